import type { Command } from 'commander';

export interface VersionFlags {
  versionId?: string;
}

export function addVersionOption(command: Command): Command {
  return command.option(
    '--version-id <id>',
    'Version to read instead of the current one; see svc object ls --versions',
  );
}
