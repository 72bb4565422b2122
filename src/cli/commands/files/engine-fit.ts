import type { Config } from '#config/config.ts';
import type { EngineFit } from '#core/plan.ts';
import type { Diagnostic } from '#language/diagnostic.ts';
import { locateSteps } from '#language/locate.ts';
import { views } from '#render/views.ts';
import { type CheckedFile, unreadable } from '#service/workflows.ts';

/** A checked file as named on the command line. `engine`: what it needs of the engine; absent without one. */
export type Checked = CheckedFile & { readonly file: string; readonly engine?: EngineFit };

/**
 * Adds to each valid file what the engine of the settings says: why it refuses its runs, which makes it invalid, and for
 * which workers they would wait, as diagnostics.
 */
export async function withFit(files: readonly Checked[], config: Config): Promise<readonly Checked[]> {
  const { openFitCheck } = await import('#app/engine-app.ts');
  const checkFit = await openFitCheck(config);
  const { neededText } = await views.plan();
  const checked: Checked[] = [];
  for (const file of files) {
    const { workflow, sources, diagnostics } = file;
    if (workflow === null) {
      checked.push(file);
      continue;
    }
    const engine = await checkFit({ workflow, sources, params: [] });
    const { refusals, workers, url, problem } = engine;
    const missing = workers.filter(({ connected }) => connected?.length === 0);
    const steps = [...refusals.flatMap(({ step }) => step ?? []), ...missing.flatMap((needed) => needed.steps)];
    const positions = steps.length === 0 ? null : locateSteps(sources, steps);
    const found = (text: EngineText, step: string | null = null): Diagnostic => ({
      ...unreadable({ help: null, ...text }, text.code),
      severity: text.code === 'engine-refusal' ? 'error' : 'warning',
      position: (step === null ? null : positions?.get(step)) ?? null,
    });
    const ofEngine = [
      ...(problem === null
        ? []
        : [found({ code: 'engine-problem', message: problem.includes(url) ? problem : `${url}: ${problem}` })]),
      ...refusals.map(({ step, message, help }) => found({ code: 'engine-refusal', message, help }, step)),
      ...missing.map((needed) => {
        const message = `a run would wait for ${neededText(needed)}: none is connected`;
        return found({ code: 'no-worker', message }, needed.steps[0]);
      }),
    ];
    checked.push({ ...file, valid: refusals.length === 0, diagnostics: [...diagnostics, ...ofEngine], engine });
  }
  return checked;
}

/** What the engine says, with the code of its diagnostic. */
type EngineText = {
  readonly code: 'engine-problem' | 'engine-refusal' | 'no-worker';
  readonly message: string;
  readonly help?: string | null;
};
