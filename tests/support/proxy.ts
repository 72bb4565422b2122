import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Starts a reverse proxy, until the test ends. `home`: what it writes by itself goes there. */
export function startProxy(program: string, args: readonly string[], home: string): void {
  const env = { ...process.env, HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home };
  const proxy = spawn(program, args, { env, stdio: 'ignore' });
  const ended = once(proxy, 'exit');
  onTestFinished(async () => {
    proxy.kill('SIGTERM');
    await ended;
  });
}

/** Starts nginx with the blocks `server` of `site`, and writes all its files to `dir`. */
export function startNginx(dir: string, site: string): void {
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((part) => `${part}_temp_path ${dir}/${part};`);
  const log = 'access_log off; error_log stderr;';
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const http = `http { ${log} ${paths.join(' ')}\n${site}}\n`;
  const config = `${user} daemon off; pid ${dir}/pid; error_log stderr; events {}\n${http}`;
  writeFileSync(join(dir, 'nginx.conf'), config);
  startProxy('nginx', ['-p', dir, '-e', 'stderr', '-c', join(dir, 'nginx.conf')], dir);
}
