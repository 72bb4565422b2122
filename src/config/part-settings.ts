/** Settings that only one part of the program reads: the server, its clients, log forwarding, and the list of all settings. */

export { readLogForwarding } from './forwarding-settings.ts';
export { type ListedDirectories, type ListedSetting, listDirectories, listSettings } from './listed-settings.ts';
export { type ClientSettings, readClientSettings, readLogStoreToken } from './login-settings.ts';
export { exposedFiles, readServerSettings, type ServerSettings } from './server-settings.ts';
