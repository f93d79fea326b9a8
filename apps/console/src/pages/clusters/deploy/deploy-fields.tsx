import { CodeEditor } from '../../../editor/code-editor.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Switch } from '../../../ui/switch.tsx';
import type { DeployDraft, DraftFaults } from './deploy-draft.ts';
import styles from './deploy.module.css';

export interface DeployFieldsProps {
  draft: DeployDraft;
  faults: DraftFaults;
  onChange: (fields: Partial<DeployDraft>) => void;
  /** Asked for from the editor's keyboard. */
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
          hint="What is deployed again under this name replaces what was."
          error={faults.project}
          onChange={({ target }) => onChange({ project: target.value })}
        />
        <TextField
          label="Namespace"
          value={draft.namespace}
          maxLength={63}
          autoComplete="off"
          spellCheck={false}
          hint="It has to be there, or be the manifest’s first document."
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
          {faults.manifest ?? 'YAML or JSON, one or more documents. Ctrl+S is a dry run.'}
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
        description="Objects of this project that the manifest does not hold any more are deleted."
        checked={draft.prune}
        onChange={(prune) => onChange({ prune })}
      />
      <Switch
        label="Wait until it is ready"
        description="The deployment ends when its workloads are available, or fails when the time is up."
        checked={draft.wait}
        onChange={(wait) => onChange({ wait })}
      />
      <Switch
        label="Take fields of others"
        description="Fields that another manager set are overwritten instead of refused as a conflict."
        checked={draft.force}
        onChange={(force) => onChange({ force })}
      />
      <TextField
        label="Time limit, seconds"
        inputMode="numeric"
        className={styles['timeout'] ?? ''}
        value={draft.timeout}
        error={faults.timeout}
        onChange={({ target }) => onChange({ timeout: target.value })}
      />
    </div>
  );
}
