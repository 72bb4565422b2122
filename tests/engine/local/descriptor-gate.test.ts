import { expect, it } from 'vitest';
import { createDescriptorGate } from '#engine/local/descriptor-gate.ts';
import { EndSignal } from '#processes/end-signal.ts';

/** A gate with the given number of free places, and the names of the admitted attempts. */
function gateFor(room: number) {
  const inside: string[] = [];
  const gate = createDescriptorGate(() => inside.length >= room);
  const enter = async (name: string, signal = new EndSignal()) => {
    await gate.enter(signal);
    inside.push(name);
  };
  const leave = (name: string) => {
    inside.splice(inside.indexOf(name), 1);
    gate.leave();
  };
  return { inside, enter, leave };
}

it('admits waiting attempts in order, one for each that ends', async () => {
  const { inside, enter, leave } = gateFor(2);
  await enter('a');
  await enter('b');
  const [c, d] = [enter('c'), enter('d')];
  expect(inside).toEqual(['a', 'b']);
  leave('a');
  await c;
  expect(inside).toEqual(['b', 'c']);
  leave('b');
  await d;
  expect(inside).toEqual(['c', 'd']);
});

it('admits an attempt if no other is running that could release a descriptor', async () => {
  const { inside, enter, leave } = gateFor(0);
  await enter('a');
  await enter('b');
  const c = enter('c');
  leave('a');
  expect(inside).toEqual(['b']);
  leave('b');
  await c;
  expect(inside).toEqual(['c']);
});

it('admits an attempt that is asked to end', async () => {
  const { inside, enter } = gateFor(2);
  await enter('a');
  await enter('b');
  const stop = new EndSignal();
  const c = enter('c', stop);
  stop.abort('stop');
  await c;
  expect(inside).toEqual(['a', 'b', 'c']);
});
