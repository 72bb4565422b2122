import { didYouMean, nearNames } from './near-names.ts';

/** Names that were asked for and exist, in small letters: asking costs as much as reading a step. */
const known = new Set<string>();

/** Whether a text names a time zone of the IANA database, such as `Europe/Berlin` or `UTC`. */
export function isTimeZone(zone: string): boolean {
  // Later versions of Node also take offsets such as `+01:00`; a file has to mean the same everywhere.
  if (!/^[A-Za-z]/.test(zone)) return false;
  if (known.has(zone.toLowerCase())) return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    known.add(zone.toLowerCase());
    return true;
  } catch {
    return false;
  }
}

/** `did you mean "Europe/Berlin"?` for a zone that does not exist; empty when none is like it. */
export function nearTimeZones(zone: string): string {
  const zones = Intl.supportedValuesOf('timeZone');
  // Most people know the city and not the continent.
  const city = zone.slice(zone.lastIndexOf('/') + 1).toLowerCase();
  const ofCity = zones.filter((name) => name.toLowerCase().endsWith(`/${city}`));
  return didYouMean(ofCity.length > 0 ? ofCity.slice(0, 3) : nearNames(zone, zones));
}
