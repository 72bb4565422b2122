import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import { afterEach, expect, test } from 'vitest';
import { launch, packageFolder, root } from './launch.ts';

const { version, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** The launcher of a package with this program. */
function launcher(program: string | null): string {
  const folder = packageFolder(program);
  folders.push(folder);
  return join(folder, 'bin/wf.js');
}

test.each(['--version', '-V', 'version'])('%s is answered without the program', (argument) => {
  expect(launch([process.execPath, launcher(null), argument])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

test('a full disk behind standard output is reported without a stack trace', () => {
  const command = '"$0" "$1" --version >/dev/full';
  const { stdout, stderr } = launch(['sh', '-c', command, process.execPath, launcher(null)]);
  expect([stdout, stderr]).toEqual([
    '',
    'wf: cannot write to standard output: ENOSPC: no space left on device, write\n',
  ]);
});

test('the program gets the arguments, and its result is the exit code', () => {
  const program = 'exports.main = async (argv) => { console.log(JSON.stringify(argv)); return 3; };';

  const ended = launch([process.execPath, launcher(program), 'version', '--json']);

  expect(ended).toEqual({ code: 3, stdout: '["version","--json"]\n', stderr: '' });
});

test('pending standard output is written when the program ends', () => {
  const program = "exports.main = async () => { process.stdout.write('x'.repeat(1_000_000)); return 1; };";

  const { code, stdout } = launch([process.execPath, launcher(program)]);

  expect([code, stdout.length]).toEqual([1, 1_000_000]);
});

test('an uncaught error names the function that threw it', () => {
  const program = 'async function loadWorkflow() { throw new Error("no"); }\nexports.main = () => loadWorkflow();';
  const file = launcher(program);

  const { code, stderr } = launch([process.execPath, file]);

  expect(code).toBe(1);
  expect(stderr).toContain(`at loadWorkflow (${join(file, '../../dist/wf.cjs')}:1:`);
});

test('a program that stops without a result is reported as a bug, and fails', () => {
  const program = "exports.main = () => new Promise(() => console.log('begun'));";

  const ended = launch([process.execPath, launcher(program), 'run', 'x.yaml']);

  const stderr =
    'wf: this is a bug in wf, please report it: nothing is left to wait for, but the command has not ended\n';
  expect(ended).toEqual({ code: 1, stdout: 'begun\n', stderr });
});

test('a checkout without a build explains how to build', () => {
  const file = launcher(null);

  const missing = `"${join(file, '../../dist/wf.cjs')}" is missing`;
  expect(launch([process.execPath, file, 'run', 'x.yaml'])).toEqual({
    code: 2,
    stdout: '',
    stderr: `wf: ${missing}; in a clone of the repository, run "npm install" to build it\n`,
  });
});

test.each(['20.18.3', '18.20.8', '6.17.1'])('Node %s is reported as too old in one line', (node) => {
  const pretend = `data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'${node}'}})`;

  const ended = launch([process.execPath, '--import', pretend, launcher(null), '--version']);

  const line = `wf needs Node.js ${engines.node.replace('>=', '')} or newer; this is ${node}\n`;
  expect(ended).toEqual({ code: 2, stdout: '', stderr: line });
});

test('an old Node can parse the launcher', () => {
  const source = readFileSync(join(root, 'bin/wf.js'), 'utf8');

  const forOldNode = transformSync(source, { target: 'es2015' }).code;

  expect(forOldNode).toBe(transformSync(source, { target: 'esnext' }).code);
});
