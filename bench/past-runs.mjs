import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

const launcher = join(import.meta.dirname, '../bin/wf.js');
const workflowCount = 20;
const runEveryMs = 60_000;

/**
 * A home with a history of `count` runs of twenty workflows, one a minute until now. Each workflow runs once; the other
 * runs are copies of the result with their own ids and times.
 */
export function makeHistory(home, count) {
  const dags = join(home, 'dags');
  mkdirSync(dags, { recursive: true });
  const names = Array.from({ length: workflowCount }, (_, at) => `workflow-${at}`);
  for (const name of names) {
    writeFileSync(join(dags, `${name}.yaml`), 'steps:\n  - name: one\n    command: echo 1\n');
    execFileSync(process.execPath, [launcher, 'run', name], {
      env: { ...process.env, WF_HOME: home },
      stdio: 'ignore',
    });
  }
  const runsDir = join(home, 'runs');
  const models = readdirSync(runsDir)
    .filter((name) => !name.startsWith('.'))
    .map((runId) => readRun(runsDir, runId));
  const now = Date.now();
  for (let at = 0; at < count - models.length; at += 1) {
    writeRun(runsDir, models[at % models.length], now - (count - at) * runEveryMs);
  }
}

function readRun(runsDir, runId) {
  const directory = join(runsDir, runId);
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return {
    runId,
    files: files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return { path: path.slice(directory.length), text: readFileSync(path, 'utf8') };
    }),
  };
}

function writeRun(runsDir, { runId, files }, time) {
  const newId = idOf(time);
  const directory = join(runsDir, newId);
  mkdirSync(join(directory, 'logs'), { recursive: true, mode: 0o700 });
  const movedBy = time - Number.parseInt(runId.slice(0, 13).replace('-', ''), 16);
  for (const { path, text } of files) {
    const lines = text.replaceAll(runId, newId).split('\n');
    const content = /[.]jsonl?$/.test(path) ? lines.map((line) => resealed(line, movedBy)).join('\n') : text;
    writeFileSync(join(directory, path), content, { mode: 0o600 });
  }
}

/** A line `{"crc":"1a2b3c4d","data":...}` with shifted event times and a new checksum. */
function resealed(line, movedBy) {
  if (!line.startsWith('{"crc":"')) return line;
  const data = line
    .slice('{"crc":"1a2b3c4d","data":'.length, -1)
    .replace(/"at":(\d+)/, (_, at) => `"at":${Number(at) + movedBy}`);
  return `{"crc":"${crc32(data).toString(16).padStart(8, '0')}","data":${data}}`;
}

function idOf(time) {
  const head = time.toString(16).padStart(12, '0');
  const tail = Array.from({ length: 18 }, () => Math.floor(Math.random() * 16).toString(16)).join('');
  return `${head.slice(0, 8)}-${head.slice(8)}-7${tail.slice(0, 3)}-8${tail.slice(3, 6)}-${tail.slice(6)}`;
}
