import { CodeEditor } from '../../../editor/code-editor.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Switch } from '../../../ui/switch.tsx';
import type { DeployDraft, DraftFaults } from './deploy-draft.ts';
import styles from './deploy.module.css';

export interface DeployFieldsProps {
  draft: DeployDraft;
  faults: DraftFaults;
  onChange: (fields: Partial<DeployDraft>) => void;
  /** Triggered by the editor's keyboard shortcut. */
  onTry: () => void;
}

export function DeployFields({ draft, faults, onChange, onTry }: DeployFieldsProps) {
  return (
    <>
      <div className={styles['row']}>
        <TextField
          label="Project"
          value={draft.project}
          maxLength={63}
          autoComplete="off"
          spellCheck={false}
          placeholder="shop"
          hint="Deploying to the same project again updates it."
          error={faults.project}
          onChange={({ target }) => onChange({ project: target.value })}
        />
        <TextField
          label="Namespace"
          value={draft.namespace}
          maxLength={63}
          autoComplete="off"
          spellCheck={false}
          hint="Must exist, or be the first document of the manifest."
          error={faults.namespace}
          onChange={({ target }) => onChange({ namespace: target.value })}
        />
      </div>
      <div className={styles['manifest']}>
        <span className={styles['label']}>Manifest</span>
        <div className={styles['editor']}>
          <CodeEditor
            name="manifest.yaml"
            text={draft.manifest}
            readOnly={false}
            focused={false}
            onChange={(manifest) => onChange({ manifest })}
            onSave={onTry}
          />
        </div>
        <p className={faults.manifest === undefined ? styles['hint'] : styles['error']}>
          {faults.manifest ?? 'YAML or JSON, one or more documents. Ctrl+S starts a dry run.'}
        </p>
      </div>
      <Options draft={draft} faults={faults} onChange={onChange} />
    </>
  );
}

function Options({ draft, faults, onChange }: Omit<DeployFieldsProps, 'onTry'>) {
  return (
    <div className={styles['options']}>
      <Switch
        label="Prune"
        description="Delete resources of this project that are no longer in the manifest."
        checked={draft.prune}
        onChange={(prune) => onChange({ prune })}
      />
      <Switch
        label="Wait until ready"
        description="Finish when the workloads are available, or fail at the timeout."
        checked={draft.wait}
        onChange={(wait) => onChange({ wait })}
      />
      <Switch
        label="Force conflicts"
        description="Overwrite fields owned by other managers instead of reporting a conflict."
        checked={draft.force}
        onChange={(force) => onChange({ force })}
      />
      <TextField
        label="Timeout (seconds)"
        inputMode="numeric"
        className={styles['timeout'] ?? ''}
        value={draft.timeout}
        error={faults.timeout}
        onChange={({ target }) => onChange({ timeout: target.value })}
      />
    </div>
  );
}
