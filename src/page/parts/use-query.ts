import { useLocation } from 'preact-iso';

/** Returns the query of the address, and a function that changes it without a new entry in the history. */
export function useQuery(): readonly [Readonly<Record<string, string>>, (changes: Record<string, string>) => void] {
  const { query, path, route } = useLocation();
  const change = (changes: Record<string, string>) => {
    const kept = Object.entries({ ...query, ...changes }).filter(([, value]) => value !== '');
    const search = new URLSearchParams(kept).toString();
    route(search === '' ? path : `${path}?${search}`, true);
  };
  return [query, change];
}
