import { useLocation } from 'preact-iso';

/** Changes the query of the address without a new history entry. `hash`: the fragment; default: the present one. */
type ChangeQuery = (changes: Record<string, string>, hash?: string) => void;

/** Returns the query of the address, and a function that changes it. */
export function useQuery(): readonly [Readonly<Record<string, string>>, ChangeQuery] {
  const { query, path, route } = useLocation();
  const change: ChangeQuery = (changes, hash = location.hash) => {
    const kept = Object.entries({ ...query, ...changes }).filter(([, value]) => value !== '');
    const search = new URLSearchParams(kept).toString();
    route((search === '' ? path : `${path}?${search}`) + hash, true);
  };
  return [query, change];
}
