/** Has work done at once, or later when there is too much. What is urgent goes before what is not. */
export type Turns = (work: () => void, isUrgent: boolean) => void;

/**
 * Begins no more than so much work in one turn of the event loop. In a turn the system's news is taken in first: signals, ends of
 * processes, data of connections, but only one new connection, and what timers have to tell. With thousands of requests in
 * one turn nobody new would get in, and with thousands of steps no stop would be heard.
 */
export function createTurns(mostInATurn: number): Turns {
  const urgent: (() => void)[] = [];
  const usual: (() => void)[] = [];
  let left = mostInATurn;
  let isPlanned = false;
  const plan = () => {
    if (!isPlanned) setImmediate(turn);
    isPlanned = true;
  };
  const turn = () => {
    isPlanned = false;
    left = mostInATurn;
    for (let work = next(); work !== undefined; work = next()) work();
  };
  const next = () => {
    const work = left > 0 ? (urgent.shift() ?? usual.shift()) : undefined;
    if (work !== undefined) left -= 1;
    if (left < mostInATurn) plan();
    return work;
  };
  return (work, isUrgent) => {
    const line = isUrgent ? urgent : usual;
    line.push(work);
    // Others that came before go first.
    if (urgent.length + usual.length > 1) plan();
    else next()?.();
  };
}
