import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { Param } from '#core/run/run.ts';
import { escapeControls } from '#render/text.ts';
import { WfError } from '#system/errors.ts';
import type { Console } from './console.ts';

/** Parameters to prompt for; an empty answer keeps `preset`, the default, and those of `secrets` are not echoed. */
export type Questions = {
  readonly params: readonly { readonly name: string; readonly preset: string | null }[];
  readonly secrets: ReadonlySet<string>;
  /** Why a value is invalid, so that the user is prompted again; null if it is valid. */
  readonly faultOf: (param: Param) => string | null;
};

type Answer = { readonly text: string } | 'interrupted' | 'ended';

/** Prompts for each value; null on Ctrl-C. Throws a `WfError` `usage` if the input ends before the last answer. */
export async function askParams(
  { params, secrets, faultOf }: Questions,
  { err }: Console,
): Promise<readonly Param[] | null> {
  await err.drained();
  const answers: Param[] = [];
  for (const { name, preset } of params) {
    for (let fault: string | null = ''; fault !== null; ) {
      const answer = await ask(name, preset, secrets.has(name));
      if (answer === 'interrupted') return null;
      if (answer === 'ended') {
        throw new WfError('usage', `the parameter "${name}" has no value`, {
          help: `give it: -p ${name}=VALUE; with --no-input it is empty`,
        });
      }
      if (answer.text === '' && preset !== null) break;
      fault = faultOf({ name, value: answer.text });
      if (fault === null) answers.push({ name, value: answer.text });
      else process.stderr.write(`${escapeControls(fault)}\n`);
    }
  }
  return answers;
}

/** Asks a question that only `y` or `yes` affirms. */
export async function askWhether(question: string, { err }: Pick<Console, 'err'>): Promise<boolean> {
  await err.drained();
  const answer = await ask(question, 'y/N', false);
  return typeof answer !== 'string' && /^y(es)?$/i.test(answer.text.trim());
}

function ask(name: string, preset: string | null, isSecret: boolean): Promise<Answer> {
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  const note = isSecret ? ' (not shown)' : preset === null ? '' : ` [${preset}]`;
  const prompt = `${escapeControls(`${name}${note}`)}: `;
  const output = isSecret ? silence : process.stderr;
  const line = createInterface({ input: process.stdin, output, terminal: true, historySize: 0 });
  return new Promise((resolve) => {
    let isAnswered = false;
    const end = (answer: Answer) => {
      // Closing ends the input too; the first result counts.
      if (isAnswered) return;
      isAnswered = true;
      if (isSecret || typeof answer === 'string') process.stderr.write('\n');
      resolve(answer);
      line.close();
    };
    line.once('SIGINT', () => end('interrupted'));
    line.once('close', () => end('ended'));
    if (isSecret) process.stderr.write(prompt);
    line.question(isSecret ? '' : prompt, (text) => end({ text }));
  });
}
