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
    .description('print variables for the AWS tools and libraries, rclone (remote svc:) and restic')
    .option('--shell <name>', 'sh, fish or powershell', 'sh')
    .option('--bucket <name>', 'also name this bucket as the repository of restic')
    .addHelpText('after', '\n  eval "$(svc s3 env)"\n\nThe key is the one of svc object; it lives for a month at most.')
    .action((flags: EnvFlags) =>
      withSession(flags, async (session) => {
        const access = await accessKeySource(session).get();
        const variables = environmentVariables(access, flags.bucket);
        session.output.answer(variables, renderVariables(variables, flags.shell));
      }),
    );
}
