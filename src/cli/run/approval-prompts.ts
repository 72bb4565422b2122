import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { RunEvent, StoredEvent } from '#core/run/run.ts';
import { type RunState, stepNode, stepState } from '#core/run/run-state.ts';
import type { ApprovalInput } from '#core/workflow.ts';
import type { ActiveRun } from '#engine/engine.ts';
import type { Prompt } from '#render/reporters.ts';
import { checkInput, mayAnswer, userName } from '#service/control-runs.ts';
import type { StepAnswerOrder } from '#service/service.ts';
import { nextTurn } from '#system/turns.ts';

type Show = (prompt: Prompt | null) => void;

/** A decision of the person at the terminal, with checked inputs. */
type Given = Pick<StepAnswerOrder, 'decision' | 'comment' | 'inputs'>;

/** A step that waits for approval, of a run of this process or of a daemon. */
export type Asked = {
  readonly runId: string;
  readonly step: string;
  /** Empty if there is no remark. */
  readonly prompt: string;
  readonly inputs: readonly (ApprovalInput & { readonly isSecret: boolean })[];
  /** Passes the decision on. Resolves to null, or to the reason of a refusal, after which the person is asked again. */
  readonly answer: (given: Given) => Promise<string | null> | null;
};

type LocalRun = Pick<ActiveRun, 'runId' | 'workflow' | 'answer'>;

type Question = { readonly asked: Asked; readonly keyboard: ReturnType<typeof openKeyboard> };

const approving = ['y', 'yes', 'a', 'approve'];
const rejecting = ['n', 'no', 'r', 'reject'];

/** Asks about one waiting step after the other, until it is answered elsewhere; Ctrl-D leaves it to others. */
export class ApprovalPrompts {
  readonly #show: Show;
  readonly #waiting: Asked[] = [];
  /** By step; shown while no question is open. */
  readonly #notes = new Map<string, Prompt>();
  #current: Question | null = null;

  constructor(show: Show) {
    this.#show = show;
  }

  watch(run: LocalRun, event: StoredEvent, state: RunState): void {
    const asked = event.type === 'step.held' ? askedOf(run, event, state) : null;
    if (asked !== null) this.ask(asked);
    if (event.type === 'step.finished') this.withdraw(run.runId, event.step);
  }

  ask(asked: Asked): void {
    this.#waiting.push(asked);
    if (this.#current === null) void this.#askAll();
  }

  /** Shows why the person at the terminal is not asked about a waiting step. */
  note({ step, prompt }: Pick<Asked, 'step' | 'prompt'>, why: string): void {
    this.#notes.set(step, { question: questionOf(step, prompt), fault: why, label: null, typed: '', cursor: 0 });
    this.#rest();
  }

  withdraw(runId: string, step: string): void {
    const isSame = (asked: Asked) => asked.runId === runId && asked.step === step;
    const index = this.#waiting.findIndex(isSame);
    if (index >= 0) this.#waiting.splice(index, 1);
    if (this.#current !== null && isSame(this.#current.asked)) this.#current.keyboard.close();
    if (this.#notes.delete(step)) this.#rest();
  }

  #rest(): void {
    if (this.#current === null) this.#show([...this.#notes.values()].at(-1) ?? null);
  }

  close(): void {
    this.#waiting.length = 0;
    this.#notes.clear();
    this.#current?.keyboard.close();
  }

  async #askAll(): Promise<void> {
    for (let asked = this.#waiting.shift(); asked !== undefined; asked = this.#waiting.shift()) {
      const keyboard = openKeyboard();
      this.#current = { asked, keyboard };
      let refusal: string | null = null;
      do {
        const given = await this.#read(this.#current, refusal);
        refusal = given === null ? null : await asked.answer(given);
      } while (refusal !== null);
      keyboard.close();
      this.#show(null);
    }
    this.#current = null;
    this.#rest();
  }

  /** Returns null if the question was withdrawn or left. */
  async #read({ asked: { step, prompt, inputs: wanted }, keyboard }: Question, refusal: string | null) {
    const question = questionOf(step, prompt);
    const read = async (
      label: string,
      { isSecret = false, before = null as string | null },
      faultOf: (text: string) => string | null,
    ) => {
      for (let fault = before; ; ) {
        const shown = (typed: string, cursor: number) => this.#show({ question, fault, label, typed, cursor });
        const text = await keyboard.read((typed, cursor) => (isSecret ? shown('', 0) : shown(typed, cursor)));
        if (text === null) return null;
        fault = faultOf(text);
        if (fault === null) return text;
      }
    };
    const word = await read('approve or reject? [y/n]', { before: refusal }, (text) =>
      [...approving, ...rejecting].includes(wordOf(text)) ? null : 'type y to approve or n to reject',
    );
    if (word === null) return null;
    if (rejecting.includes(wordOf(word))) {
      const comment = await read('reason (may be empty):', {}, () => null);
      return comment === null ? null : { decision: 'rejected' as const, comment, inputs: {} };
    }
    const inputs: Record<string, string> = {};
    for (const input of wanted) {
      const text = await read(labelOf(input), input, (given) => faultIn(input, given));
      if (text === null) return null;
      const checked = checkInput(text === '' ? input.default : text, input.rule);
      if ('value' in checked) inputs[input.name] = checked.value;
    }
    return { decision: 'approved' as const, comment: '', inputs };
  }
}

type Held = Extract<RunEvent, { type: 'step.held' }>;

/** Returns null if the step no longer waits, or not for this user. */
function askedOf({ runId, workflow, answer }: LocalRun, { step, prompt }: Held, state: RunState): Asked | null {
  const { approval } = stepNode(state, step);
  const by = userName();
  // It may have been answered while this module was loaded.
  if (approval === undefined || stepState(state, step).waitingFor !== 'approval') return null;
  if (!mayAnswer(approval.by, by)) return null;
  const secrets = new Set(workflow.secrets.map(({ name }) => name));
  return {
    runId,
    step,
    prompt,
    inputs: approval.inputs.map((input) => ({ ...input, isSecret: secrets.has(input.name) })),
    answer: (given) => {
      answer({ step, by, ...given });
      return null;
    },
  };
}

function questionOf(step: string, prompt: string): string {
  return `${step} waits for approval${prompt === '' ? '' : `: ${prompt}`}`;
}

function wordOf(text: string): string {
  return text.trim().toLowerCase();
}

function labelOf({ name, default: value, rule, isSecret }: Asked['inputs'][number]): string {
  if (isSecret) return `${name} (not shown):`;
  const choices = rule.choices === undefined ? '' : ` (${rule.choices.join(', ')})`;
  return `${name}${choices}${value === '' ? '' : ` [${value}]`}:`;
}

function faultIn({ name, default: value, rule }: ApprovalInput, text: string): string | null {
  const checked = checkInput(text === '' ? value : text, rule);
  return 'fault' in checked ? `"${name}" ${checked.fault}` : null;
}

/**
 * Reads lines that a person types while something else paints the terminal, without an echo. Standard input must be a terminal.
 * Ctrl-C is still SIGINT; text typed before is discarded.
 */
function openKeyboard() {
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  const { stdin } = process;
  const line = createInterface({ input: stdin, output: silence, terminal: true, historySize: 0 });
  let isClosed = false;
  let paint = () => {};
  let take: (text: string | null) => void = () => {};
  const painting = () => paint();
  // After the listener of `line`, which has taken the key by then.
  stdin.on('keypress', painting);
  line.on('SIGINT', () => void process.kill(process.pid, 'SIGINT'));
  line.on('line', (text) => take(text));
  line.once('close', () => {
    isClosed = true;
    stdin.off('keypress', painting);
    take(null);
  });
  const isDrained = discardTyped(line);
  return {
    /** Reads one line, painted by `shown` after each key; null once the keyboard is closed, or at Ctrl-D. */
    read: async (shown: (typed: string, cursor: number) => void) => {
      await isDrained;
      if (isClosed) return null;
      paint = () => shown(line.line, line.cursor);
      paint();
      const text = await new Promise<string | null>((resolve) => {
        take = resolve;
      });
      paint = () => {};
      return text;
    },
    close: () => line.close(),
  };
}

/** Keys that were typed before the question arrive in the first turns and are discarded. */
async function discardTyped(line: ReturnType<typeof createInterface>): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
  if (line.line !== '') line.write(null, { ctrl: true, name: 'u' });
}
