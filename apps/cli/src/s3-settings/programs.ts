import { join } from 'node:path';
import type { ClientEnvironment } from '../configuration-client.ts';
import { awsConfig, awsCredentials, rcloneRemote, s3cmdSettings, type StoreAccess } from './program-settings.ts';
import type { SettingsPart } from './settings-file.ts';

/** A program configured by a section of a file. */
export interface Program {
  /** The first part contains the key. */
  parts: (access: StoreAccess) => readonly [SettingsPart, ...SettingsPart[]];
  keyName: string;
  /** The setting that identifies the section's store. */
  endpoint: { path: string; section: string; name: string; of: (access: StoreAccess) => string };
  /** Example of use. */
  example: string;
}

export const PROGRAM_NAMES = ['aws', 'rclone', 's3cmd', 'restic'] as const;
export type ProgramName = (typeof PROGRAM_NAMES)[number];

/** `name` is the profile or remote; s3cmd supports only one section. */
export function createProgram(
  program: Exclude<ProgramName, 'restic'>,
  { settingsFiles: files }: ClientEnvironment,
  { name, file }: { name: string; file?: string | undefined },
): Program {
  if (program === 'aws') {
    const section = name === 'default' ? 'default' : `profile ${name}`;
    const credentials = file === undefined ? files.awsCredentials : join(file, 'credentials');
    const config = file === undefined ? files.awsConfig : join(file, 'config');
    return {
      parts: (access) => [
        { path: credentials, section: name, entries: awsCredentials(access) },
        { path: config, section, entries: awsConfig(access) },
      ],
      keyName: 'aws_access_key_id',
      endpoint: { path: config, section, name: 'endpoint_url', of: ({ endpoint }) => endpoint },
      example: `aws --profile ${name} s3 ls`,
    };
  }
  if (program === 'rclone') {
    const path = file ?? files.rclone;
    return {
      parts: (access) => [{ path, section: name, entries: rcloneRemote(access) }],
      keyName: 'access_key_id',
      endpoint: { path, section: name, name: 'endpoint', of: ({ endpoint }) => endpoint },
      example: `rclone lsd ${name}:`,
    };
  }
  const path = file ?? files.s3cmd;
  return {
    parts: (access) => [{ path, section: 'default', entries: s3cmdSettings(access) }],
    keyName: 'access_key',
    endpoint: { path, section: 'default', name: 'host_base', of: ({ endpoint }) => new URL(endpoint).host },
    example: file === undefined ? 's3cmd ls' : `s3cmd --config ${file} ls`,
  };
}
