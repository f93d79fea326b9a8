import { join } from 'node:path';
import { CommandFailure } from './command-failure.ts';
import { readIfThere, writePrivateFile } from './private-file.ts';

/** A platform that `svc login` has signed in to. */
export interface Profile {
  url: string;
  token: string;
  /** Id of the token created by the login, for revoking it on logout; null for a token provided by the user. */
  tokenId: string | null;
  workspace: string | null;
  team: string | null;
}

interface ProfileFile {
  profiles: Record<string, Profile>;
}

export const DEFAULT_PROFILE = 'default';

export function profilesPath(configFolder: string): string {
  return join(configFolder, 'profiles.json');
}

export async function readProfile(configFolder: string, name: string): Promise<Profile | null> {
  const { profiles } = await readAll(configFolder);
  return Object.hasOwn(profiles, name) ? (profiles[name] ?? null) : null;
}

/** Saves a profile; null deletes it. */
export async function writeProfile(configFolder: string, name: string, profile: Profile | null): Promise<void> {
  const { profiles } = await readAll(configFolder);
  const others = Object.entries(profiles).filter(([each]) => each !== name);
  const all = Object.fromEntries(profile === null ? others : [...others, [name, profile]]);
  await writePrivateFile(profilesPath(configFolder), `${JSON.stringify({ profiles: all }, null, 2)}\n`);
}

async function readAll(configFolder: string): Promise<ProfileFile> {
  const path = profilesPath(configFolder);
  const text = await readIfThere(path);
  if (text === null) return { profiles: {} };
  try {
    return JSON.parse(text) as ProfileFile; // written by this file
  } catch (error) {
    throw new CommandFailure(`${path} cannot be read`, { hint: 'delete it and run svc login again', cause: error });
  }
}
