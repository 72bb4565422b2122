import { type DescribedRoute, json, type Operation, ref } from '../../docs/operation.ts';
import { jsonReply } from '../../reply/json-reply.ts';
import type { V2Parts } from '../parts.ts';

const showing: Operation = {
  id: 'showInfo',
  tag: 'Daemon',
  summary: 'Describes the daemon',
  answers: {
    200: json('The daemon.', ref('DaemonInfo'), {
      version: '1.0.0',
      node: 'v20.20.0',
      host: 'build',
      pid: 4711,
      startedAt: '2026-03-01T00:00:00.000Z',
      timeZone: 'Europe/Berlin',
      access: 'write',
    }),
  },
};

const configuring: Operation = {
  id: 'showConfig',
  tag: 'Daemon',
  summary: 'Lists the settings of the daemon with their sources',
  description: 'What `wf config --json` prints, with the options of `wf serve`. Secrets are `***`.',
  answers: { 200: json('The settings.', ref('DaemonConfig'), { settings: [], places: { workflows: '/srv/wf/dags' } }) },
};

const common = { method: 'GET', access: 'read', body: 'none', errors: 'problem' } as const;

/** `GET /api/v2/info`. */
export function infoRoute({ info }: V2Parts): DescribedRoute {
  return {
    ...common,
    path: '/api/v2/info',
    handle: ({ access }) => jsonReply({ ...info(), access }),
    operation: showing,
  };
}

/** `GET /api/v2/config`. */
export function configRoute({ settings }: V2Parts): DescribedRoute {
  return { ...common, path: '/api/v2/config', handle: () => jsonReply(settings()), operation: configuring };
}
