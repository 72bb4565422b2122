import type { Json } from '#core/workflow.ts';
import { DockerProblem } from '../docker-problem.ts';

/** Settings that are not texts in Docker's API. A variable can still provide them (`memory: $LIMIT`). */
const truths = names(`
  argsEscaped attachStderr attachStdin attachStdout init networkDisabled oomKillDisable openStdin privileged
  publishAllPorts readonlyRootfs stdinOnce tty`);
const wholeNumbers = names(`
  blkioWeight cpuCount cpuPercent cpuPeriod cpuQuota cpuRealtimePeriod cpuRealtimeRuntime cpuShares ioMaximumBandwidth
  ioMaximumIOps memorySwappiness nanoCpus oomScoreAdj pidsLimit stopTimeout`);
const sizes = names('kernelMemory kernelMemoryTCP memory memoryReservation memorySwap shmSize');

const oddNames: { readonly [name: string]: string } = {
  ioMaximumBandwidth: 'IOMaximumBandwidth',
  ioMaximumIOps: 'IOMaximumIOps',
  utsMode: 'UTSMode',
};

/** The name of a setting in Docker's API. */
export function apiName(name: string): string {
  return oddNames[name] ?? name.charAt(0).toUpperCase() + name.slice(1);
}

/** Converts a setting to the value in Docker's API: sizes in bytes, also given as `512m`. Throws a `DockerProblem`. */
export function settingValue(name: string, value: Json): Json {
  if (typeof value !== 'string') return value;
  if (truths.has(name)) return truth(name, value);
  if (sizes.has(name)) return bytes(name, value);
  if (!wholeNumbers.has(name)) return value;
  if (/^-?\d+$/.test(value)) return Number(value);
  throw new DockerProblem(`"${name}" is "${value}", which is not a whole number`);
}

function truth(name: string, value: string): boolean {
  if (/^(true|yes|on|1)$/i.test(value)) return true;
  if (/^(false|no|off|0|)$/i.test(value)) return false;
  throw new DockerProblem(`"${name}" is "${value}", which is neither true nor false`);
}

/** -1 removes a limit. */
function bytes(name: string, value: string): number {
  const [, number, unit = ''] = /^(-1|\d+(?:\.\d+)?)\s*(?:([kmgt])(?:i?b)?|b)?$/i.exec(value.trim()) ?? [];
  if (number === undefined) throw new DockerProblem(`"${name}" is "${value}", which is not a size such as 512m`);
  return Math.floor(Number(number) * 1024 ** ' kmgt'.indexOf(unit.toLowerCase() || ' '));
}

function names(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}
