import type { SandboxCluster } from '@svc/sdk';
import { Select } from '../../../ui/select.tsx';

/** A select has no empty value, and no cluster has this name. */
const PLATFORM = '-';

export interface ClusterPickerProps {
  clusters: readonly SandboxCluster[];
  /** Name of a cluster; empty for the platform. */
  value: string;
  onChange: (cluster: string) => void;
}

/** Chooses where a new sandbox runs. */
export function ClusterPicker({ clusters, value, onChange }: ClusterPickerProps) {
  const options = [
    { value: PLATFORM, label: 'Platform' },
    ...clusters.map(({ name }) => ({
      value: name,
      label: name,
      description: 'Connected cluster. Without pause, snapshots and volumes.',
    })),
  ];
  return (
    <Select
      label="Run in"
      options={options}
      value={value === '' ? PLATFORM : value}
      onChange={(next) => onChange(next === PLATFORM ? '' : next)}
    />
  );
}
