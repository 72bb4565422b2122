import type { RunScope, Shared, SharedParts } from '../../executors/executor.ts';

/** The parts that the attempts of one run share. */
export class RunParts {
  readonly #open = new Map<string, Promise<Shared>>();

  get areUsed(): boolean {
    return this.#open.size > 0;
  }

  /** The parts as an attempt sees them; `run`: the variables of the run. */
  forAttempt(run: () => RunScope): SharedParts {
    return {
      use: async <T extends Shared>(name: string, open: (scope: RunScope) => Promise<T>): Promise<T> => {
        const opening = this.#open.get(name) ?? this.#keep(name, open(run()));
        return (await opening) as T;
      },
      drop: async (name, part) => {
        if ((await this.#open.get(name)?.catch(() => null)) !== part) return;
        this.#open.delete(name);
        await part.close(true);
      },
    };
  }

  /** A part that could not be opened is opened again by the next attempt. */
  #keep(name: string, opening: Promise<Shared>): Promise<Shared> {
    this.#open.set(name, opening);
    opening.catch(() => {
      if (this.#open.get(name) === opening) this.#open.delete(name);
    });
    return opening;
  }

  /** Closes all parts; resolves to the problems. */
  async close(force: boolean): Promise<readonly string[]> {
    const parts = [...this.#open.values()];
    this.#open.clear();
    const problems = await Promise.all(
      parts.map((part) =>
        part.then(
          (open) => open.close(force),
          () => null,
        ),
      ),
    );
    return problems.filter((problem) => problem !== null);
  }
}
