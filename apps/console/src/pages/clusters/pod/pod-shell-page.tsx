import type { ClusterInfo, Pod } from '@svc/sdk';
import { useState } from 'react';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Panel } from '../../../ui/page.tsx';
import { Select } from '../../../ui/select.tsx';
import { EmptyState } from '../../../ui/states.tsx';
import { ONLY_MEMBERS } from '../detail/cluster-labels.ts';
import { containerOptions, firstContainer } from './choose-container.ts';
import { PodFrame } from './pod-frame.tsx';
import styles from './pod.module.css';
import { ShellView } from './shell-view.tsx';

export function PodShellPage() {
  const workspace = useWorkspace();
  return (
    <PodFrame current="shell">
      {(cluster, pod) =>
        mayWrite(workspace) ? (
          <Shell cluster={cluster} pod={pod} />
        ) : (
          <Panel padded={false}>
            <EmptyState title="Guests cannot open a shell">{ONLY_MEMBERS}</EmptyState>
          </Panel>
        )
      }
    </PodFrame>
  );
}

function Shell({ cluster, pod }: { cluster: ClusterInfo; pod: Pod }) {
  const [container, setContainer] = useState(() => firstContainer(pod));
  const [times, setTimes] = useState(0);
  return (
    <div className={styles['stack']}>
      <ShellView
        key={`${container} ${times}`}
        wish={{ clusterId: cluster.id, namespace: pod.namespace, pod: pod.name, container }}
        onNew={() => setTimes(times + 1)}
      >
        <Select
          label="Container"
          labelHidden
          className={styles['container'] ?? ''}
          options={containerOptions(pod)}
          value={container}
          onChange={setContainer}
        />
      </ShellView>
      <p className="muted">
        The shell ends when you leave this page. Ctrl+Shift+F: find. Ctrl+Shift+X: leave the terminal.
      </p>
    </div>
  );
}
