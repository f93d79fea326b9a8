import { readIfThere, writePrivateFile } from '../client/private-file.ts';
import { CommandFailure } from '../client/command-failure.ts';
import { readIniSection, setIniSection, type IniEntries } from './ini-file.ts';

/** Settings in a section of a file. */
export interface SettingsPart {
  path: string;
  section: string;
  entries: IniEntries;
}

/** Writes the settings and makes the file readable by its owner only, since it contains a secret. */
export async function writeSettings({ path, section, entries }: SettingsPart): Promise<void> {
  const text = (await readIfThere(path)) ?? '';
  assertReadable(path, text);
  await writePrivateFile(path, setIniSection(text, section, entries));
}

/** Returns the current settings; null if there are none. */
export async function readSettings(path: string, section: string): Promise<ReadonlyMap<string, string> | null> {
  const text = await readIfThere(path);
  if (text === null) return null;
  assertReadable(path, text);
  return readIniSection(text, section);
}

function assertReadable(path: string, text: string): void {
  // rclone can encrypt its settings; then only rclone can change them.
  if (!text.includes('RCLONE_ENCRYPT_V')) return;
  throw new CommandFailure(`${path} is encrypted`, {
    hint: 'use svc s3 env to configure rclone with environment variables',
  });
}
