import type { Deployment } from '@svc/sdk';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Rocket, Search } from 'lucide-react';
import { useState } from 'react';
import { deploymentsQuery, useClusters } from '../../../api/clusters.ts';
import { useCluster } from '../../../layouts/cluster-layout.tsx';
import { PageActions } from '../../../ui/page.tsx';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { TextField } from '../../../ui/field.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';
import { ONLY_MEMBERS } from '../detail/cluster-words.ts';
import { DeployLink } from '../overview/overview-page.tsx';
import { deploymentColumns } from './deployment-columns.tsx';
import styles from './deployments.module.css';

const route = getRouteApi('/shell/w/$workspace/clusters/$cluster/deployments');

export function DeploymentsPage() {
  const cluster = useCluster();
  const api = useClusters();
  const workspace = useWorkspace();
  const { project } = route.useSearch();
  const navigate = route.useNavigate();
  const deployments = useInfiniteQuery(deploymentsQuery(api, workspace, cluster.id, project));
  const search = (wanted: string): void =>
    void navigate({ search: wanted === '' ? {} : { project: wanted }, replace: true, resetScroll: false });
  if (deployments.isError && deployments.data === undefined) {
    return <ErrorState error={deployments.error} onRetry={() => void deployments.refetch()} />;
  }
  return (
    <div className={styles['list']}>
      <PageActions>
        <DeployLink cluster={cluster} />
      </PageActions>
      <ProjectFilter key={project ?? ''} project={project ?? ''} onSearch={search} />
      <Table<Deployment>
        caption="Deployments, newest first"
        columns={deploymentColumns(workspace, cluster)}
        rows={deployments.data?.pages.flatMap(({ items }) => items)}
        rowKey={({ id }) => id}
        empty={
          project === undefined ? (
            <EmptyState
              icon={<Rocket size={18} />}
              title="No deployments yet"
              action={<DeployLink cluster={cluster} />}
            >
              Deploy a manifest: the agent applies it and reports progress until it is ready.
              {!mayWrite(workspace) && ` ${ONLY_MEMBERS}`}
            </EmptyState>
          ) : (
            <EmptyState title="No matching deployments" action={<Button onClick={() => search('')}>Show all</Button>}>
              No deployments in project {project}.
            </EmptyState>
          )
        }
      />
      {deployments.hasNextPage && (
        <div className={styles['more']}>
          <Button pending={deployments.isFetchingNextPage} onClick={() => void deployments.fetchNextPage()}>
            Load older
          </Button>
        </div>
      )}
    </div>
  );
}

function ProjectFilter({ project, onSearch }: { project: string; onSearch: (project: string) => void }) {
  const [draft, setDraft] = useState(project);
  return (
    <form
      role="search"
      aria-label="Filter deployments"
      className={styles['filter']}
      onSubmit={(event) => {
        event.preventDefault();
        onSearch(draft.trim());
      }}
    >
      <TextField
        label="Project"
        labelHidden
        type="search"
        placeholder="Project (exact match)"
        autoComplete="off"
        spellCheck={false}
        leading={<Search size={14} />}
        value={draft}
        onChange={({ target }) => {
          setDraft(target.value);
          if (target.value === '' && project !== '') onSearch('');
        }}
      />
      <button type="submit" className="visually-hidden">
        Apply filters
      </button>
    </form>
  );
}
