import type { Readiness, Service } from '#core/workflow.ts';
import type { RawAction, RawService } from '../raw.ts';
import { toMs } from './build-policies.ts';
import { fixedNumber } from './number-texts.ts';

/** Longest time until the container of a service is ready by the conditions of the container itself. */
const CONTAINER_TIMEOUT_SEC = 120;

/** Whether the step is a service. */
export function isService({ service }: RawAction): boolean {
  return service !== undefined && service !== false;
}

/** The keys of a service as a part of a step; empty for other steps. */
export function serviceOf(raw: RawAction): { readonly service?: Service } {
  if (!isService(raw)) return {};
  const { readyWhen, intervalSec, timeoutSec } = typeof raw.service === 'object' ? raw.service : {};
  const own = readyWhen === undefined ? ofContainer(raw) : readinessOf(readyWhen);
  const usualSec = readyWhen === undefined && own !== null ? CONTAINER_TIMEOUT_SEC : 60;
  return {
    service: {
      readyWhen: own,
      intervalMs: toMs(fixedNumber(intervalSec) ?? 1),
      timeoutMs: toMs(fixedNumber(timeoutSec) ?? usualSec),
    },
  };
}

function readinessOf({ command, port, http, line, healthy }: NonNullable<RawService['readyWhen']>): Readiness | null {
  if (command !== undefined) return { kind: 'command', command };
  if (port !== undefined) return { kind: 'port', port };
  if (http !== undefined) return { kind: 'http', url: http };
  if (line !== undefined) return { kind: 'line', line };
  return healthy === true ? { kind: 'healthy' } : null;
}

/** `waitFor` and `logPattern` of the service's own container have the same meaning. */
function ofContainer({ container }: RawAction): Readiness | null {
  if (typeof container !== 'object') return null;
  if (container.logPattern !== undefined) return { kind: 'line', line: `re:${container.logPattern}` };
  return container.waitFor === 'healthy' ? { kind: 'healthy' } : null;
}
