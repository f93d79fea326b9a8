import type { EgressRule } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { useSandboxes } from '../../../api/sandboxes.ts';
import { sandboxKey } from '../../../api/query-keys.ts';
import type { Sandbox } from '../../../api/sandbox-types.ts';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { Panel, Section } from '../../../ui/page.tsx';
import { Table, type Column } from '../../../ui/table.tsx';
import { useToasts } from '../../../ui/toast.tsx';
import { AddRuleDialog } from './add-rule-dialog.tsx';
import styles from './secrets.module.css';

/** The rules that add secrets to requests of a sandbox. */
export function EgressRules({ sandbox }: { sandbox: Sandbox }) {
  const workspace = useWorkspace();
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<EgressRule | null>(null);
  const { egress_rules: rules } = sandbox;
  const applies = sandbox.network === 'egress' && sandbox.driver === 'local';
  const canChange = mayWrite(workspace) && applies;
  return (
    <Section
      title="Secrets in requests"
      description="Secrets are added outside the sandbox, so programs in it never see them."
      actions={
        canChange && (
          <Button size="small" icon={<Plus size={14} />} onClick={() => setAdding(true)}>
            Add rule
          </Button>
        )
      }
    >
      {rules.length === 0 ? (
        <Panel>
          <p className="muted">{applies ? 'No rules.' : 'Rules need the local driver and network access.'}</p>
        </Panel>
      ) : (
        <Table
          caption="Secrets in requests"
          columns={columns(canChange ? setRemoving : null)}
          rows={rules}
          rowKey={keyOf}
          empty={null}
        />
      )}
      <AddRuleDialog open={adding} sandbox={sandbox} onClose={() => setAdding(false)} />
      <RemoveRuleDialog rule={removing} sandbox={sandbox} onClose={() => setRemoving(null)} />
    </Section>
  );
}

function columns(onRemove: ((rule: EgressRule) => void) | null): Column<EgressRule>[] {
  const shown: Column<EgressRule>[] = [
    { id: 'host', header: 'Host', cell: ({ host }) => <code className={styles['name']}>{host}</code> },
    { id: 'place', header: 'Sets', cell: (rule) => <Place rule={rule} /> },
    { id: 'secret', header: 'Secret', cell: ({ secret }) => <code className={styles['name']}>{secret}</code> },
    { id: 'template', header: 'As', wideOnly: true, cell: ({ template }) => <code>{template ?? '{value}'}</code> },
  ];
  if (onRemove === null) return shown;
  const actions: Column<EgressRule> = {
    id: 'actions',
    header: 'Actions',
    headerHidden: true,
    align: 'end',
    width: '6.5rem',
    cell: (rule) => (
      <Button size="small" aria-label={`Remove the rule for ${rule.host}`} onClick={() => onRemove(rule)}>
        Remove
      </Button>
    ),
  };
  return [...shown, actions];
}

/** Rules have no ID; two equal ones have the same effect as one. */
function keyOf(rule: EgressRule): string {
  return JSON.stringify(rule);
}

function Place({ rule: { header, query = '', insecure } }: { rule: EgressRule }) {
  return (
    <>
      <code className={styles['name']}>{header === undefined ? `?${query}=` : `${header}:`}</code>
      {insecure === true && <span className="muted"> also over HTTP</span>}
    </>
  );
}

function RemoveRuleDialog(props: { rule: EgressRule | null; sandbox: Sandbox; onClose: () => void }) {
  const { rule, sandbox, onClose } = props;
  const api = useSandboxes();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const removal = useMutation({
    mutationFn: (removed: EgressRule) =>
      api.of(sandbox.id).setEgressRules(sandbox.egress_rules.filter((each) => keyOf(each) !== keyOf(removed))),
    onSuccess: (_answer, { host }) => {
      close();
      done(`Rule for ${host} removed`);
      return queryClient.invalidateQueries({ queryKey: sandboxKey(workspace, sandbox.id) });
    },
  });
  const close = (): void => {
    removal.reset();
    onClose();
  };
  return (
    <ConfirmDialog
      open={rule !== null}
      onClose={close}
      onConfirm={() => {
        if (rule !== null) removal.mutate(rule);
      }}
      title={`Remove the rule for ${rule?.host ?? 'this host'}?`}
      action="Remove rule"
      pending={removal.isPending}
      error={removal.error}
    >
      Within two seconds, requests to this host no longer carry the secret. Open connections that use it are closed.
    </ConfirmDialog>
  );
}
