import type { Template, TemplateBuild } from '@svc/sdk';
import type { Command } from 'commander';
import { CommandFailure } from '../client/command-failure.ts';
import type { ConnectionFlags } from '../client/connection.ts';
import { printable } from '../client/output.ts';
import { addConnectionOptions } from '../client/session.ts';
import { withSandboxes } from './sandbox/with-sandboxes.ts';
import { registerTemplateBuild } from './template/build.ts';

/** `svc template …` */
export function registerTemplateCommand(program: Command): void {
  const template = program.command('template').description('Build images for sandboxes');
  registerTemplateBuild(template);
  registerList(template);
  registerLogs(template);
  registerTag(template);
  registerRemove(template);
}

function registerList(parent: Command): void {
  addConnectionOptions(parent.command('ls'))
    .description('List templates with their tags and newest build')
    .action((flags: ConnectionFlags) =>
      withSandboxes(flags, async ({ sandboxes, output, signal }) => {
        const found: Template[] = [];
        for await (const template of sandboxes.templates.list({}, { signal })) found.push(template);
        const rows = found.map(({ name, tags, builds: [latest] }) => [
          name,
          tags.map(({ tag }) => tag).join(', '),
          latest?.status ?? '',
          latest?.created_at ?? '',
          describeArchive(latest),
        ]);
        output.answerTable(found, ['NAME', 'TAGS', 'NEWEST BUILD', 'BUILT', 'ARCHIVED'], rows);
      }),
    );
}

function describeArchive(build: TemplateBuild | undefined): string {
  if (build === undefined) return '';
  if (build.archived_at !== null) return 'yes';
  return build.archive_error === null ? '' : 'failed';
}

interface LogFlags extends ConnectionFlags {
  follow?: boolean;
}

function registerLogs(parent: Command): void {
  addConnectionOptions(parent.command('logs'))
    .description('Print the log of a build')
    .argument('<name>')
    .argument('[build]', 'ID of a build (default: the newest)')
    .option('-f, --follow', 'Follow the log until the build ends')
    .action((name: string, given: string | undefined, flags: LogFlags) =>
      withSandboxes(flags, async ({ sandboxes: { templates }, output, signal }) => {
        const build = given ?? (await templates.get(name, { signal })).builds[0]?.id;
        if (build === undefined) throw new CommandFailure(`template ${name} has no builds`);
        const follow = flags.follow === true;
        for await (const line of templates.logs(name, build, { follow, signal })) {
          output.entry(line, printable(line.message));
        }
      }),
    );
}

function registerTag(parent: Command): void {
  addConnectionOptions(parent.command('tag'))
    .description('Add a tag to a build, or move it from another build')
    .argument('<name>')
    .argument('<target>', 'Tag or ID of the build')
    .argument('<tag>', 'Tag to add')
    .action((name: string, target: string, tag: string, flags: ConnectionFlags) =>
      withSandboxes(flags, async ({ sandboxes: { templates }, output, signal }) => {
        await templates.tag(name, tag, target, { signal });
        output.answer({ name, tag, target }, [`${printable(name)}:${printable(tag)} is now ${printable(target)}`]);
      }),
    );
}

function registerRemove(parent: Command): void {
  addConnectionOptions(parent.command('rm'))
    .description('Delete templates with their builds, or one tag; sandboxes created from them are kept')
    .argument('<name...>', 'Name, or name:tag to remove only the tag')
    .action((names: string[], flags: ConnectionFlags) =>
      withSandboxes(flags, async ({ sandboxes: { templates }, output, signal }) => {
        for (const given of names) {
          const [name = '', tag] = given.split(':');
          if (tag === undefined) await templates.delete(name, { signal });
          else await templates.untag(name, tag, { signal });
          output.note(`Deleted ${tag === undefined ? 'template' : 'tag'} ${printable(given)}`);
        }
        if (output.json) output.answer({ deleted: names }, []);
      }),
    );
}
