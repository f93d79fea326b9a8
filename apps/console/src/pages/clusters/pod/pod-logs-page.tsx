import type { ClusterInfo, Pod } from '@svc/sdk';
import { useState } from 'react';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { Select } from '../../../ui/select.tsx';
import { containerOptions, firstContainer } from './choose-container.ts';
import { LogView } from './log-view.tsx';
import { PodFrame } from './pod-frame.tsx';
import styles from './pod.module.css';

export function PodLogsPage() {
  return <PodFrame current="logs">{(cluster, pod) => <Logs cluster={cluster} pod={pod} />}</PodFrame>;
}

function Logs({ cluster, pod }: { cluster: ClusterInfo; pod: Pod }) {
  const [container, setContainer] = useState(() => firstContainer(pod));
  const [previous, setPrevious] = useState(false);
  const [timestamps, setTimestamps] = useState(false);
  const [times, setTimes] = useState(0);
  const wish = { clusterId: cluster.id, namespace: pod.namespace, pod: pod.name, container, previous, timestamps };
  return (
    <div className={styles['stack']}>
      <div className={styles['choices']}>
        <Select
          label="Container"
          labelHidden
          className={styles['container'] ?? ''}
          options={containerOptions(pod)}
          value={container}
          onChange={setContainer}
        />
        <Checkbox label="Timestamps" checked={timestamps} onChange={setTimestamps} />
        <Checkbox label="Previous run" checked={previous} onChange={setPrevious} />
      </div>
      <LogView
        key={`${container} ${previous} ${timestamps} ${times}`}
        wish={wish}
        onAgain={() => setTimes(times + 1)}
      />
    </div>
  );
}
