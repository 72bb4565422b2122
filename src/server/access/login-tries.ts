/** Wrong logins by the address of their client. */
export type LoginTries = {
  /**
   * Counts a wrong login and returns the pause before the next attempt from the address, in milliseconds: 0 for the
   * first few. The same wrong login is counted once, since a program with an old token is not guessing.
   */
  readonly failed: (address: string, fingerprint: string) => number;
};

type Tries = { readonly count: number; readonly last: string; readonly until: number; readonly at: number };

const freeTries = 5;
const firstWaitMs = 1000;
const longestWaitMs = 5 * 60_000;
const forgottenAfterMs = 60 * 60_000;
const mostAddresses = 10_000;

/**
 * Creates the counter. After five different wrong logins, each further one doubles the time for which the address is
 * blocked. IPv6 addresses are counted by network, since one machine has all addresses of its network.
 */
export function createLoginTries(now: () => number): LoginTries {
  const byNetwork = new Map<string, Tries>();
  const known = (network: string): Tries | undefined => {
    const tries = byNetwork.get(network);
    return tries !== undefined && now() - tries.at < forgottenAfterMs ? tries : undefined;
  };
  return {
    failed: (address, fingerprint) => {
      const network = networkOf(address);
      const before = known(network);
      const waitMs = Math.max(0, (before?.until ?? 0) - now());
      if (waitMs > 0 || before?.last === fingerprint) return waitMs;
      const count = (before?.count ?? 0) + 1;
      const wait = count <= freeTries ? 0 : Math.min(longestWaitMs, firstWaitMs * 2 ** (count - freeTries - 1));
      byNetwork.delete(network);
      byNetwork.set(network, { count, last: fingerprint, until: now() + wait, at: now() });
      forgetOldest(byNetwork);
      return 0;
    },
  };
}

/** Removes the oldest entry: a map keeps the order of insertion. */
function forgetOldest(byNetwork: Map<string, Tries>): void {
  const [oldest] = byNetwork.keys();
  if (byNetwork.size > mostAddresses && oldest !== undefined) byNetwork.delete(oldest);
}

function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=[\d.]+$)/, '');
  return plain.includes(':') ? plain.split(':').slice(0, 4).join(':') : plain;
}
