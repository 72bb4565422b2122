/** Wrong logins by the address they came from. */
export type LoginTries = {
  /** How long that address has to wait before a login of it is looked at, in milliseconds; 0: not at all. */
  readonly waitMs: (address: string) => number;
  /** Counts a wrong login, unless it is the one that was wrong before: a program with an old token guesses nothing. */
  readonly failed: (address: string, fingerprint: string) => void;
  readonly succeeded: (address: string) => void;
};

type Tries = { readonly count: number; readonly last: string; readonly until: number; readonly at: number };

const freeTries = 5;
const firstWaitMs = 1000;
const longestWaitMs = 5 * 60_000;
const forgottenAfterMs = 60 * 60_000;
const mostAddresses = 10_000;

/**
 * Slows guessing down: after five different wrong logins every further one doubles the time for which no login from that
 * address is looked at, right or wrong. Of IPv6 the network counts, since one machine has all of its addresses.
 */
export function createLoginTries(now: () => number): LoginTries {
  const byNetwork = new Map<string, Tries>();
  const known = (network: string): Tries | undefined => {
    const tries = byNetwork.get(network);
    return tries !== undefined && now() - tries.at < forgottenAfterMs ? tries : undefined;
  };
  return {
    waitMs: (address) => Math.max(0, (known(networkOf(address))?.until ?? 0) - now()),
    failed: (address, fingerprint) => {
      const network = networkOf(address);
      const before = known(network);
      if (before?.last === fingerprint) return;
      const count = (before?.count ?? 0) + 1;
      const wait = count <= freeTries ? 0 : Math.min(longestWaitMs, firstWaitMs * 2 ** (count - freeTries - 1));
      byNetwork.delete(network);
      byNetwork.set(network, { count, last: fingerprint, until: now() + wait, at: now() });
      forgetOldest(byNetwork);
    },
    succeeded: (address) => {
      byNetwork.delete(networkOf(address));
    },
  };
}

/** A map keeps the order in which its keys came. */
function forgetOldest(byNetwork: Map<string, Tries>): void {
  const [oldest] = byNetwork.keys();
  if (byNetwork.size > mostAddresses && oldest !== undefined) byNetwork.delete(oldest);
}

function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=[\d.]+$)/, '');
  return plain.includes(':') ? plain.split(':').slice(0, 4).join(':') : plain;
}
