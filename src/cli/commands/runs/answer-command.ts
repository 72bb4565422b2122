import type { ApprovalAnswer } from '#core/run/run.ts';
import { escapeControls } from '#render/text/sanitize.ts';
import { onlyWaitingStep } from '#service/runs/answering.ts';
import { userName } from '#service/user-name.ts';
import { type AccessOptions, withService } from '../../access/open-service.ts';
import { exitCodes } from '../../exit-codes.ts';
import { givenParameters } from '../../run/parameters.ts';
import type { Console } from '../../terminal/console.ts';
import { runTitle } from './stop-command.ts';

/** The options of `wf approve` and `wf reject`. */
export type AnswerOptions = AccessOptions & {
  readonly run: string;
  /** Absent: the only step that waits. */
  readonly step?: string;
  readonly decision: ApprovalAnswer;
  /** The inputs, as `NAME=value`. */
  readonly param?: readonly string[];
  readonly comment?: string;
  readonly json?: true;
};

/** Answers a step that waits for approval. */
export function answerCommand(options: AnswerOptions, console: Console): Promise<number> {
  const { run: word, step: given, decision, comment = '', json } = options;
  const inputs = inputsOf(options);
  return withService(options, console, async ({ runs }) => {
    const found = await runs.find(word);
    const step = given ?? onlyWaitingStep(found);
    const run = await runs.answer(found.runId, { step, decision, by: userName(), comment, inputs });
    const line = `step "${escapeControls(step)}" of ${runTitle(run)} is ${decision}\n`;
    console.out.write(json ? `${JSON.stringify(run, null, 2)}\n` : line);
    return exitCodes.succeeded;
  });
}

function inputsOf({ param = [] }: AnswerOptions): Readonly<Record<string, string>> {
  const params = givenParameters({ param, called: 'approve', rest: [] });
  return Object.fromEntries(params.flatMap(({ name, value }) => (name === null ? [] : [[name, value]])));
}
