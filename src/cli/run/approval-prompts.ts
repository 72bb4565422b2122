import type { RunEvent, StoredEvent } from '../../core/run/run.ts';
import { type RunState, stepNode, stepState } from '../../core/run/run-state.ts';
import type { Approval, ApprovalInput } from '../../core/workflow.ts';
import type { ActiveRun } from '../../engine/engine.ts';
import type { Prompt } from '../../render/reporters/reporter.ts';
import { checkInput, mayAnswer } from '../../service/runs/answering.ts';
import { userName } from '../../service/user-name.ts';
import { type Keyboard, openKeyboard } from '../terminal/keyboard.ts';

type Show = (prompt: Prompt | null) => void;

/** A step that waits for approval. */
type Asked = {
  readonly run: Pick<ActiveRun, 'runId' | 'workflow' | 'answer'>;
  readonly step: string;
  readonly prompt: string;
  readonly approval: Approval;
};

/** The question on the terminal; `keyboard` reads its answer. */
type Question = { readonly asked: Asked; readonly keyboard: Keyboard };

const approving = ['y', 'yes', 'a', 'approve'];
const rejecting = ['n', 'no', 'r', 'reject'];

/**
 * Asks about one waiting step after the other. The answer of another person takes the question away, and so does the end of
 * the run. Ctrl-D leaves the question to another person.
 */
export class ApprovalPrompts {
  readonly #show: Show;
  readonly #user = userName();
  readonly #waiting: Asked[] = [];
  #current: Question | null = null;

  constructor(show: Show) {
    this.#show = show;
  }

  watch(run: Asked['run'], event: StoredEvent, state: RunState): void {
    if (event.type === 'step.held') this.#add(run, event, state);
    if (event.type === 'step.finished') this.#remove(run, event.step);
  }

  close(): void {
    this.#waiting.length = 0;
    this.#current?.keyboard.close();
  }

  #add(run: Asked['run'], { step, prompt }: Extract<RunEvent, { type: 'step.held' }>, state: RunState): void {
    const { approval } = stepNode(state, step);
    // It may have been answered while this module was loaded.
    if (approval === undefined || stepState(state, step).waitingFor !== 'approval') return;
    if (!mayAnswer(approval.by, this.#user)) return;
    this.#waiting.push({ run, step, prompt, approval });
    if (this.#current === null) void this.#askAll();
  }

  #remove({ runId }: Asked['run'], step: string): void {
    const isSame = (asked: Asked) => asked.run.runId === runId && asked.step === step;
    const index = this.#waiting.findIndex(isSame);
    if (index >= 0) this.#waiting.splice(index, 1);
    if (this.#current !== null && isSame(this.#current.asked)) this.#current.keyboard.close();
  }

  async #askAll(): Promise<void> {
    for (let asked = this.#waiting.shift(); asked !== undefined; asked = this.#waiting.shift()) {
      const keyboard = openKeyboard();
      this.#current = { asked, keyboard };
      const given = await this.#ask(this.#current);
      keyboard.close();
      this.#show(null);
      if (given !== null) asked.run.answer({ step: asked.step, by: this.#user, ...given });
    }
    this.#current = null;
  }

  /** Returns null if the question was taken away or left. */
  async #ask({ asked: { run, step, prompt, approval }, keyboard }: Question) {
    const secrets = new Set(run.workflow.secrets.map(({ name }) => name));
    const question = `${step} waits for approval${prompt === '' ? '' : `: ${prompt}`}`;
    const read = async (label: string, isSecret: boolean, faultOf: (text: string) => string | null) => {
      for (let fault: string | null = null; ; ) {
        const shown = (typed: string, cursor: number) => this.#show({ question, fault, label, typed, cursor });
        const text = await keyboard.read((typed, cursor) => (isSecret ? shown('', 0) : shown(typed, cursor)));
        if (text === null) return null;
        fault = faultOf(text);
        if (fault === null) return text;
      }
    };
    const word = await read('approve or reject? [y/n]', false, (text) =>
      [...approving, ...rejecting].includes(wordOf(text)) ? null : 'type y to approve or n to reject',
    );
    if (word === null) return null;
    if (rejecting.includes(wordOf(word))) {
      const comment = await read('reason (may be empty):', false, () => null);
      return comment === null ? null : { decision: 'rejected' as const, comment, inputs: {} };
    }
    const inputs: Record<string, string> = {};
    for (const input of approval.inputs) {
      const isSecret = secrets.has(input.name);
      const text = await read(labelOf(input, isSecret), isSecret, (given) => faultIn(input, given));
      if (text === null) return null;
      const checked = checkInput(text === '' ? input.default : text, input.rule);
      if ('value' in checked) inputs[input.name] = checked.value;
    }
    return { decision: 'approved' as const, comment: '', inputs };
  }
}

function wordOf(text: string): string {
  return text.trim().toLowerCase();
}

function labelOf({ name, default: value, rule }: ApprovalInput, isSecret: boolean): string {
  if (isSecret) return `${name} (not shown):`;
  const choices = rule.choices === undefined ? '' : ` (${rule.choices.join(', ')})`;
  return `${name}${choices}${value === '' ? '' : ` [${value}]`}:`;
}

function faultIn({ name, default: value, rule }: ApprovalInput, text: string): string | null {
  const checked = checkInput(text === '' ? value : text, rule);
  return 'fault' in checked ? `"${name}" ${checked.fault}` : null;
}
