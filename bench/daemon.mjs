import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const launcher = join(import.meta.dirname, '../bin/wf.js');

/**
 * Starts `wf serve` in a folder with the given number of trivial workflows and those in `more`; resolves when it
 * listens. `options`: further arguments. `home`: its directory.
 */
export async function startDaemon(folder, count, more = {}, options = []) {
  const [dags, home] = ['dags', 'daemon-home'].map((name) => join(folder, name));
  mkdirSync(dags, { recursive: true });
  for (let i = 0; i < count; i += 1) {
    const text = `description: workflow number ${i}\ntags: [bench, t${i % 10}]\nsteps:\n  - name: one\n    command: echo ${i}\n`;
    writeFileSync(join(dags, `w${String(i).padStart(4, '0')}.yaml`), text);
  }
  for (const [name, text] of Object.entries(more)) writeFileSync(join(dags, name), text);
  const daemon = spawn(process.execPath, [launcher, 'serve', '--port', '0', '--dags', dags, ...options], {
    env: { ...process.env, WF_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kill = () => daemon.kill('SIGKILL');
  process.once('exit', kill);
  const url = await printedUrl(daemon);
  const close = async () => {
    const ended = once(daemon, 'exit');
    daemon.kill('SIGTERM');
    await ended;
    process.off('exit', kill);
  };
  return { url, pid: daemon.pid, home, close };
}

/** Resolves to the URL that a server prints, `... http://host:port...`. */
export function printedUrl(server) {
  return new Promise((resolve, reject) => {
    let printed = '';
    server.stdout.setEncoding('utf8').on('data', (text) => {
      printed += text;
      const url = /http:\/\/[\d.]+:\d+/.exec(printed);
      if (url !== null) resolve(url[0]);
    });
    server.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${printed}`)));
  });
}
