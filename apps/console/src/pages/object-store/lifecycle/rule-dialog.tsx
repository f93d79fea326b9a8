import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { Dialog, DialogActions } from '../../../ui/dialog.tsx';
import { FieldStack, TextField } from '../../../ui/field.tsx';
import { FormError } from '../../../ui/form-error.tsx';
import { Switch } from '../../../ui/switch.tsx';
import { TextArea } from '../../../ui/text-area.tsx';
import styles from './lifecycle.module.css';
import { createDraft, parseRuleDraft, type RuleDraft, type RuleFaults } from './rule-draft.ts';
import type { Rule } from './rule.ts';

/** The rule being edited: an existing one, a new one (null), or none. */
export type Editing = { rule: Rule | null } | null;

export interface RuleDialogProps {
  editing: Editing;
  /** Names of existing rules. */
  taken: readonly string[];
  state: { isPending: boolean; error: unknown };
  onClose: () => void;
  onSave: (rule: Rule, before: Rule | null) => void;
}

export function RuleDialog({ editing, ...form }: RuleDialogProps) {
  return (
    <Dialog
      open={editing !== null}
      onClose={form.onClose}
      width="wide"
      title={editing?.rule ? `Edit rule ${editing.rule.id}` : 'New rule'}
      description="Leave fields empty to skip a filter or an action."
    >
      {editing !== null && <RuleForm key={editing.rule?.id ?? ''} before={editing.rule} {...form} />}
    </Dialog>
  );
}

function RuleForm({
  before,
  taken,
  state,
  onClose,
  onSave,
}: Omit<RuleDialogProps, 'editing'> & { before: Rule | null }) {
  const [draft, setDraft] = useState(() => createDraft(before));
  const [tried, setTried] = useState(false);
  const { rule, faults } = parseRuleDraft(draft, before);
  const clash = before?.id !== draft.id.trim() && taken.includes(draft.id.trim());
  const shown: RuleFaults = clash ? { ...faults, id: 'A rule with this name already exists.' } : faults;
  const change = (changes: Partial<RuleDraft>): void => setDraft({ ...draft, ...changes });
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (rule !== null && !clash) onSave(rule, before);
      }}
    >
      <FieldStack>
        <TextField
          label="Name"
          value={draft.id}
          maxLength={255}
          autoComplete="off"
          error={tried ? shown.id : undefined}
          onChange={(event) => change({ id: event.target.value })}
        />
        <RuleScope draft={draft} faults={tried ? shown : {}} onChange={change} />
        <RuleEffects draft={draft} faults={tried ? shown : {}} onChange={change} />
        <Switch label="Enabled" checked={draft.enabled} onChange={(enabled) => change({ enabled })} />
      </FieldStack>
      <FormError error={state.error} />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" pending={state.isPending}>
          Save rule
        </Button>
      </DialogActions>
    </form>
  );
}

interface RulePartProps {
  draft: RuleDraft;
  faults: RuleFaults;
  onChange: (changes: Partial<RuleDraft>) => void;
}

function RuleScope({ draft, faults, onChange }: RulePartProps) {
  return (
    <>
      <TextField
        label="Key prefix"
        value={draft.prefix}
        placeholder="All keys"
        spellCheck={false}
        onChange={(event) => onChange({ prefix: event.target.value })}
      />
      <TextArea
        label="Tags"
        value={draft.tags}
        placeholder="name=value"
        error={faults.tags}
        onChange={(event) => onChange({ tags: event.target.value })}
      />
      <div className={styles['pair']}>
        <TextField
          label="Larger than"
          value={draft.largerThan}
          placeholder="Any size"
          error={faults.largerThan}
          onChange={(event) => onChange({ largerThan: event.target.value })}
        />
        <TextField
          label="Smaller than"
          value={draft.smallerThan}
          placeholder="Any size"
          error={faults.smallerThan}
          onChange={(event) => onChange({ smallerThan: event.target.value })}
        />
      </div>
    </>
  );
}

function RuleEffects({ draft, faults, onChange }: RulePartProps) {
  return (
    <>
      <div className={styles['pair']}>
        <TextField
          label="Delete objects after (days)"
          inputMode="numeric"
          value={draft.expireDays}
          error={faults.expireDays}
          onChange={(event) => onChange({ expireDays: event.target.value })}
        />
        <TextField
          label="Delete unfinished uploads after (days)"
          inputMode="numeric"
          value={draft.abortDays}
          error={faults.abortDays}
          onChange={(event) => onChange({ abortDays: event.target.value })}
        />
      </div>
      <div className={styles['pair']}>
        <TextField
          label="Delete old versions after (days)"
          inputMode="numeric"
          value={draft.noncurrentDays}
          error={faults.noncurrentDays}
          onChange={(event) => onChange({ noncurrentDays: event.target.value })}
        />
        <TextField
          label="Newest versions to keep"
          inputMode="numeric"
          value={draft.keptVersions}
          error={faults.keptVersions}
          onChange={(event) => onChange({ keptVersions: event.target.value })}
        />
      </div>
      <Checkbox
        label="Delete expired delete markers"
        checked={draft.expiredMarkers}
        onChange={(expiredMarkers) => onChange({ expiredMarkers })}
      />
    </>
  );
}
