import type { Template } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Layers, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { templatesQuery, useSandboxes } from '../../../api/sandboxes.ts';
import { paths } from '../../../routes/paths.ts';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { TwoLines } from '../../../ui/list.tsx';
import { Page } from '../../../ui/page.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { Table, type Column } from '../../../ui/table.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { SandboxesTabs } from '../list/sandboxes-tabs.tsx';
import { BuildStatus } from './build-status.tsx';
import { DeleteTemplateDialog, NewFromTemplateDialog } from './template-dialogs.tsx';
import styles from './templates.module.css';

/** Templates of the workspace, each with its newest build. */
export function TemplatesPage() {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const templates = useQuery(templatesQuery(api, workspace));
  const [using, setUsing] = useState<string | null>(null);
  const [deleting, setDeleting] = useState<string | null>(null);
  const actions = mayWrite(workspace) ? { use: setUsing, remove: setDeleting } : null;
  return (
    <Page
      title="Templates"
      description="Images that you built. Sandboxes start from them in milliseconds."
      navigation={<SandboxesTabs current="templates" />}
    >
      {templates.isError ? (
        <ErrorState error={templates.error} onRetry={() => void templates.refetch()} />
      ) : (
        <Table
          caption="Templates"
          columns={columnsOf(workspace.uuid, actions)}
          rows={templates.data}
          rowKey={({ id }) => id}
          empty={
            <EmptyState icon={<Layers size={18} />} title="No templates yet">
              Build one from a Dockerfile with <code>svc template build NAME</code>.
            </EmptyState>
          }
        />
      )}
      <NewFromTemplateDialog name={using} onClose={() => setUsing(null)} />
      <DeleteTemplateDialog name={deleting} onClose={() => setDeleting(null)} />
    </Page>
  );
}

interface TemplateActions {
  use: (name: string) => void;
  remove: (name: string) => void;
}

function columnsOf(workspace: string, actions: TemplateActions | null): Column<Template>[] {
  const columns: Column<Template>[] = [
    {
      id: 'name',
      header: 'Name',
      cell: ({ id, name, tags }) => (
        <TwoLines title={id} under={tags.map(({ tag }) => tag).join(', ') || 'no tags'}>
          <Link to={paths.template} params={{ workspace, template: name }}>
            {name}
          </Link>
        </TwoLines>
      ),
    },
    {
      id: 'status',
      header: 'Newest build',
      width: '9rem',
      wideOnly: true,
      cell: ({ builds: [latest] }) => latest !== undefined && <BuildStatus status={latest.status} />,
    },
    {
      id: 'built',
      header: 'Built',
      width: '8rem',
      wideOnly: true,
      cell: ({ created_at: created, builds: [latest] }) => (
        <span className="muted">
          <RelativeTime at={latest?.created_at ?? created} />
        </span>
      ),
    },
  ];
  if (actions === null) return columns;
  const column: Column<Template> = {
    id: 'actions',
    header: 'Actions',
    headerHidden: true,
    align: 'end',
    width: '11.5rem',
    cell: ({ name, tags }) => (
      <span className={styles['actions']}>
        {tags.length > 0 && (
          <Button size="small" onClick={() => actions.use(name)}>
            New sandbox
          </Button>
        )}
        <IconButton label={`Delete ${name}`} size="small" onClick={() => actions.remove(name)}>
          <Trash2 size={15} />
        </IconButton>
      </span>
    ),
  };
  return [...columns, column];
}
