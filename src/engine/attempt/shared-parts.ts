import type { RunScope, Shared, SharedParts } from '#executors/executor.ts';
import { EndSignal } from '#processes/end-signal.ts';

/** `end` is aborted when the run does not need it any more. */
type Part = { readonly opening: Promise<Shared>; readonly end: EndSignal };

/** The parts that the attempts of one run share. */
export class RunParts {
  readonly #open = new Map<string, Part>();

  get areUsed(): boolean {
    return this.#open.size > 0;
  }

  /** The parts as an attempt sees them; `run`: the variables of the run. */
  forAttempt(run: () => RunScope): SharedParts {
    return {
      use: async <T extends Shared>(name: string, open: (scope: RunScope, end: EndSignal) => Promise<T>) => {
        const { opening } = this.#open.get(name) ?? this.#keep(name, (end) => open(run(), end));
        return (await opening) as T;
      },
      drop: async (name, part) => {
        if ((await this.#open.get(name)?.opening.catch(() => null)) !== part) return null;
        this.#open.delete(name);
        return part.close(true);
      },
    };
  }

  /** A part that could not be opened is opened again by the next attempt. */
  #keep(name: string, open: (end: EndSignal) => Promise<Shared>): Part {
    const end = new EndSignal();
    const part = { opening: open(end), end };
    this.#open.set(name, part);
    part.opening.catch(() => {
      if (this.#open.get(name) === part) this.#open.delete(name);
    });
    return part;
  }

  /** Closes all parts; resolves to the problems. */
  async close(force: boolean): Promise<readonly string[]> {
    const parts = [...this.#open.values()];
    this.#open.clear();
    const problems = await Promise.all(
      parts.map(({ opening, end }) => {
        end.abort('stop');
        return opening.then(
          (open) => open.close(force),
          () => null,
        );
      }),
    );
    return problems.filter((problem) => problem !== null);
  }
}
