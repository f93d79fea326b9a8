import type { Command } from 'commander';

export interface VersionFlags {
  versionId?: string;
}

export function addVersionOption(command: Command): Command {
  return command.option(
    '--version-id <id>',
    'this version instead of the current one; svc object ls --versions shows them',
  );
}
