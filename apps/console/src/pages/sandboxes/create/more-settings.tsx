import { ChevronRight } from 'lucide-react';
import { TextField } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';
import { TextArea } from '../../../ui/text-area.tsx';
import styles from './create.module.css';
import type { DraftFaults, SandboxDraft } from './sandbox-draft.ts';

const TIMES = [
  { value: '600', label: '10 minutes' },
  { value: '1800', label: '30 minutes' },
  { value: '3600', label: '1 hour' },
  { value: '28800', label: '8 hours' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
];
/** A select has no empty value. */
const NEVER = 'never';

const NETWORKS = [
  { value: 'default', label: 'Platform default' },
  {
    value: 'egress',
    label: 'Public internet',
    description: 'No access to the host, private networks or other sandboxes',
  },
  { value: 'none', label: 'No network' },
] as const;

const ISOLATIONS = [
  { value: 'default', label: 'Platform default' },
  { value: 'namespaces', label: 'Namespaces', description: 'Fastest. Shares the host kernel.' },
  { value: 'gvisor', label: 'gVisor', description: 'Separate kernel. Requires runsc on the host.' },
] as const;

export interface MoreSettingsProps {
  draft: SandboxDraft;
  faults: DraftFaults;
  onChange: (fields: Partial<SandboxDraft>) => void;
}

/** Settings that most sandboxes don't need. */
export function MoreSettings(props: MoreSettingsProps) {
  return (
    <details className={styles['more']}>
      <summary>
        <ChevronRight size={15} aria-hidden="true" /> Resources, network, environment, volumes, buckets, timeouts
      </summary>
      <div className={styles['moreBody']}>
        <Resources {...props} />
        <Network {...props} />
        <Texts {...props} />
        <Volumes {...props} />
        <Buckets {...props} />
        <Timeouts {...props} />
      </div>
    </details>
  );
}

const AMOUNTS = [
  ['cpu', 'CPUs', '0.05'],
  ['memoryMb', 'Memory (MiB)', '1'],
  ['diskMb', 'Disk (MiB)', '1'],
  ['pids', 'Processes', '1'],
] as const;

function Resources({ draft, faults, onChange }: MoreSettingsProps) {
  return (
    <div className={styles['four']}>
      {AMOUNTS.map(([field, label, step]) => (
        <TextField
          key={field}
          label={label}
          type="number"
          min={step}
          step={step}
          placeholder="Default"
          value={draft[field]}
          error={faults[field]}
          onChange={(event) => onChange({ [field]: event.target.value })}
        />
      ))}
    </div>
  );
}

function Network({ draft, faults, onChange }: MoreSettingsProps) {
  return (
    <>
      <div className={styles['pair']}>
        <Select
          label="Network"
          options={NETWORKS}
          value={draft.network}
          onChange={(network) => onChange({ network })}
        />
        <Select
          label="Isolation"
          options={ISOLATIONS}
          value={draft.isolation}
          onChange={(isolation) => onChange({ isolation })}
        />
      </div>
      {draft.network === 'egress' && (
        <TextArea
          label="Allowed hosts"
          rows={2}
          placeholder={'api.example.com\n*.example.com'}
          hint="One per line. Leave empty to allow all public hosts."
          value={draft.egressAllow}
          error={faults.egressAllow}
          onChange={(event) => onChange({ egressAllow: event.target.value })}
        />
      )}
    </>
  );
}

function Texts({ draft, faults, onChange }: MoreSettingsProps) {
  return (
    <div className={styles['pair']}>
      <TextArea
        label="Environment"
        placeholder={'NODE_ENV=production\nDEBUG=1'}
        hint="One per line, as in a .env file."
        value={draft.environment}
        error={faults.environment}
        onChange={(event) => onChange({ environment: event.target.value })}
      />
      <TextArea
        label="Labels"
        placeholder={'team=web\nticket=1234'}
        hint="One per line. Use labels to filter the list."
        value={draft.labels}
        error={faults.labels}
        onChange={(event) => onChange({ labels: event.target.value })}
      />
    </div>
  );
}

function Volumes({ draft, faults, onChange }: MoreSettingsProps) {
  return (
    <TextArea
      label="Volumes"
      rows={2}
      placeholder={'data:/data\nmodels:/srv/models:ro'}
      hint="Name and path, one per line. Add :ro to mount it read-only."
      value={draft.volumes}
      error={faults.volumes}
      onChange={(event) => onChange({ volumes: event.target.value })}
    />
  );
}

function Buckets({ draft, faults, onChange }: MoreSettingsProps) {
  return (
    <TextArea
      label="Buckets"
      rows={2}
      placeholder={'photos:/data\nmodels/llama:/models:ro'}
      hint="Bucket or folder of one, and path, one per line. Add :ro to mount it read-only."
      value={draft.mounts}
      error={faults.mounts}
      onChange={(event) => onChange({ mounts: event.target.value })}
    />
  );
}

function Timeouts({ draft, onChange }: MoreSettingsProps) {
  return (
    <div className={styles['pair']}>
      <Select
        label="Stop when idle for"
        options={[{ value: NEVER, label: 'Never' }, ...TIMES]}
        value={draft.idleSeconds === '' ? NEVER : draft.idleSeconds}
        onChange={(value) => onChange({ idleSeconds: value === NEVER ? '' : value })}
      />
      <Select
        label="Delete after"
        options={[{ value: NEVER, label: 'Never' }, ...TIMES]}
        value={draft.lifetimeSeconds === '' ? NEVER : draft.lifetimeSeconds}
        onChange={(value) => onChange({ lifetimeSeconds: value === NEVER ? '' : value })}
      />
    </div>
  );
}
