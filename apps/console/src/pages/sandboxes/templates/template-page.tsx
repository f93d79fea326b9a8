import { NotFoundError, type Template, type TemplateBuild } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { templateQuery, useSandboxes } from '../../../api/sandboxes.ts';
import { MissingPage } from '../../../layouts/missing-page.tsx';
import { paths } from '../../../routes/paths.ts';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { formatBytes } from '../../../ui/format-bytes.ts';
import { Definitions, Page, Panel, Section } from '../../../ui/page.tsx';
import { ErrorState, LoadingRegion } from '../../../ui/states.tsx';
import { Table, type Column } from '../../../ui/table.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { BuildLog } from './build-log.tsx';
import { BuildStatus } from './build-status.tsx';
import { NewFromTemplateDialog } from './template-dialogs.tsx';

const MIB = 1024 ** 2;

/** A template with its builds and the log of one of them. */
export function TemplatePage() {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const { template: name } = useParams({ strict: false });
  if (name === undefined) throw new Error('the page has no template in its path');
  const template = useQuery(templateQuery(api, workspace, name));
  if (template.data !== undefined) return <LoadedTemplate template={template.data} />;
  if (template.error instanceof NotFoundError) {
    const parent = { label: 'Templates', link: { to: paths.templates, params: { workspace: workspace.uuid } } };
    return <MissingPage what="Template" parent={parent} />;
  }
  if (template.isError) return <ErrorState error={template.error} onRetry={() => void template.refetch()} />;
  return <LoadingRegion height="16rem" />;
}

function LoadedTemplate({ template }: { template: Template }) {
  const workspace = useWorkspace();
  const [chosen, setChosen] = useState<string | null>(null);
  const [creating, setCreating] = useState(false);
  const shown = template.builds.find(({ id }) => id === chosen) ?? template.builds[0];
  const params = { workspace: workspace.uuid };
  return (
    <Page
      title={template.name}
      description={template.tags.map(({ tag }) => tag).join(', ') || 'No tags'}
      parent={{ label: 'Templates', link: { to: paths.templates, params } }}
      actions={
        mayWrite(workspace) &&
        template.tags.length > 0 && (
          <Button variant="primary" icon={<Plus size={15} />} onClick={() => setCreating(true)}>
            New sandbox
          </Button>
        )
      }
    >
      {shown !== undefined && (
        <Section title="Log" description={`Build ${shown.id}`}>
          {shown.error !== null && <ErrorState error={new Error(describeFailure(shown.error))} />}
          <BuildLog key={shown.id} name={template.name} buildId={shown.id} />
        </Section>
      )}
      {shown?.status === 'ready' && (
        <Section title="Result">
          <Panel>
            <Definitions items={factsOf(shown)} />
          </Panel>
        </Section>
      )}
      <Section title="Builds">
        <Table
          caption="Builds, newest first"
          columns={columnsOf(template, setChosen)}
          rows={template.builds}
          rowKey={({ id }) => id}
          empty="No builds yet"
        />
      </Section>
      <NewFromTemplateDialog name={creating ? template.name : null} onClose={() => setCreating(false)} />
    </Page>
  );
}

function columnsOf({ tags }: Template, show: (id: string) => void): Column<TemplateBuild>[] {
  const tagsOf = (id: string): string =>
    tags.flatMap(({ tag, build_id: build }) => (build === id ? [tag] : [])).join(', ');
  return [
    { id: 'status', header: 'Status', width: '9rem', cell: ({ status }) => <BuildStatus status={status} /> },
    { id: 'tags', header: 'Tags', cell: ({ id }) => tagsOf(id) },
    {
      id: 'created',
      header: 'Started',
      width: '8rem',
      wideOnly: true,
      cell: ({ created_at: created }) => (
        <span className="muted">
          <RelativeTime at={created} />
        </span>
      ),
    },
    {
      id: 'actions',
      header: 'Actions',
      headerHidden: true,
      align: 'end',
      width: '8rem',
      cell: ({ id }) => (
        <Button size="small" onClick={() => show(id)}>
          Show log
        </Button>
      ),
    },
  ];
}

function factsOf(build: TemplateBuild): (readonly [string, string])[] {
  const { cpu, memory_mb: memory, disk_mb: disk } = build.resources;
  return [
    ['Steps', `${build.steps ?? 0}, of which ${build.cached_steps ?? 0} cached`],
    ['User', build.user ?? 'root'],
    ['Working folder', build.workdir ?? '/'],
    ['Start command', build.start_command?.join(' ') ?? 'None'],
    ['Ready check', build.ready_command ?? 'None'],
    ['Ports', build.ports.join(', ') || 'None'],
    ['Archived', build.archived_at === null ? (build.archive_error ?? 'No') : 'Yes: every node can use it'],
    ['Resources', `${cpu} CPU, ${formatBytes(memory * MIB)} memory, ${formatBytes(disk * MIB)} disk`],
  ];
}

function describeFailure({ message, line }: { message: string; line: number | null }): string {
  return line === null ? message : `Line ${line}: ${message}`;
}
