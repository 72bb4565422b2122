import { spawnSync } from 'node:child_process';
import { isInstalled } from './require.ts';

/** A machine in a network of its own. */
export type Machine = {
  /** What goes before a command to run it there. */
  readonly through: readonly string[];
  /** Unplugs its cable to the hub, or plugs it in again. */
  readonly cut: () => void;
  readonly heal: () => void;
};

/** A hub with machines around it, each on a cable of its own. They reach the hub, and not each other. */
export type Network = {
  /** What goes before a command to run it at the hub. */
  readonly through: readonly string[];
  /** The address of the hub, also for this process. */
  readonly address: string;
  readonly machines: readonly Machine[];
  readonly remove: () => void;
};

/** No two test processes use the same names. A name of a device has at most 15 characters. */
const prefix = `wf${process.pid}`;
const hub = `${prefix}-hub`;

/** Whether this user may make networks here. */
export const canMakeNetworks = isInstalled('ip') && process.getuid?.() === 0 && canMakeOne();

function canMakeOne(): boolean {
  const name = `${prefix}-try`;
  const isMade = spawnSync('ip', ['netns', 'add', name]).status === 0;
  if (isMade) ip('netns', 'del', name);
  return isMade;
}

/** Makes a network with a number of machines. */
export function makeNetwork(size: number): Network {
  ip('netns', 'add', hub);
  ip('-n', hub, 'link', 'set', 'lo', 'up');
  ip('link', 'add', `${prefix}h`, 'type', 'veth', 'peer', 'name', 'host', 'netns', hub);
  ip('addr', 'add', `${addressOf(0, 1)}/30`, 'dev', `${prefix}h`);
  ip('link', 'set', `${prefix}h`, 'up');
  ip('-n', hub, 'addr', 'add', `${addressOf(0, 2)}/30`, 'dev', 'host');
  ip('-n', hub, 'link', 'set', 'host', 'up');
  const machines = Array.from({ length: size }, (_, index) => makeMachine(index + 1));
  return {
    through: ['ip', 'netns', 'exec', hub],
    address: addressOf(0, 2),
    machines: machines.map(({ machine }) => machine),
    // The cables go with it.
    remove: () => {
      for (const name of [...machines.map((made) => made.name), hub]) ip('netns', 'del', name);
    },
  };
}

function makeMachine(number: number): { readonly name: string; readonly machine: Machine } {
  const name = `${prefix}-${number}`;
  const cable = `m${number}`;
  const plugged = (state: 'up' | 'down') => ip('-n', hub, 'link', 'set', cable, state);
  ip('netns', 'add', name);
  ip('-n', hub, 'link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
  ip('-n', hub, 'addr', 'add', `${addressOf(number, 1)}/30`, 'dev', cable);
  plugged('up');
  ip('-n', name, 'addr', 'add', `${addressOf(number, 2)}/30`, 'dev', 'eth0');
  for (const device of ['lo', 'eth0']) ip('-n', name, 'link', 'set', device, 'up');
  ip('-n', name, 'route', 'add', 'default', 'via', addressOf(number, 1));
  const machine: Machine = {
    through: ['ip', 'netns', 'exec', name],
    cut: () => plugged('down'),
    heal: () => plugged('up'),
  };
  return { name, machine };
}

/** Of a private network, by the process, so that test processes seldom meet; `end`: 1 is nearer to this process, 2 is the other. */
function addressOf(cable: number, end: number): string {
  return `10.${64 + (process.pid % 128)}.${Math.floor(process.pid / 128) % 256}.${cable * 4 + end}`;
}

function ip(...args: readonly string[]): void {
  const { status, stderr } = spawnSync('ip', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr}`);
}
