import type { Command } from 'commander';
import { accessKeySource } from '../../client/access-keys.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions, withSession } from '../../client/session.ts';
import { environmentVariables } from '../../s3-settings/program-settings.ts';
import { renderVariables } from '../../s3-settings/render-variables.ts';

interface EnvFlags extends ConnectionFlags {
  shell: string;
  bucket?: string;
}

export function registerS3Env(parent: Command): void {
  addConnectionOptions(parent.command('env'))
    .description('Print environment variables for AWS SDKs and tools, rclone (remote svc:), and restic')
    .option('--shell <name>', 'Shell syntax: sh, fish, or powershell', 'sh')
    .option('--bucket <name>', 'Set this bucket as the restic repository')
    .addHelpText(
      'after',
      '\n  eval "$(svc s3 env)"\n\nUses the access key of svc object, which is valid for a month at most.',
    )
    .action((flags: EnvFlags) =>
      withSession(flags, async (session) => {
        const access = await accessKeySource(session).get();
        const variables = environmentVariables(access, flags.bucket);
        session.output.answer(variables, renderVariables(variables, flags.shell));
      }),
    );
}
