/**
 * The parts of the program that only make it faster. Each has a plain way beside it that does the same:
 *
 *   code-cache      compiled code of earlier runs (bin/code-cache.js)
 *   plain-run       `wf run NAME PARAMS` without the parser of options (cli/program/plain-run.ts)
 *   plain-yaml      a reader of the YAML that most files are written in, instead of the package `yaml` (language/read/plain/)
 *   process-handle  starting a program by the handle of Node beneath `node:child_process` (processes/process-handle.ts)
 *   small-process   flags of V8 that keep this process small (fast/small-process.ts)
 *   starter         a small process that starts programs for this one (processes/starter/)
 *   start-up        short replacements for builtin modules that take long to load (fast/)
 */
export type Accelerator =
  | 'code-cache'
  | 'plain-run'
  | 'plain-yaml'
  | 'process-handle'
  | 'small-process'
  | 'starter'
  | 'start-up';

/** Whether an accelerator is used: each is, unless `WF_WITHOUT` names it (`starter,plain-yaml`) or all (`all`). */
export function uses(accelerator: Accelerator): boolean {
  const without = process.env['WF_WITHOUT'];
  return without === undefined || (without !== 'all' && !without.split(',').includes(accelerator));
}
