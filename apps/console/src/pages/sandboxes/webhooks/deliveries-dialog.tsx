import type { Webhook, WebhookAttempt, WebhookDelivery } from '@svc/sdk';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { deliveriesQuery, useSandboxes, webhooksQuery } from '../../../api/sandboxes.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Status, type Tone } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Dialog, DialogActions } from '../../../ui/dialog.tsx';
import { FormError } from '../../../ui/form-error.tsx';
import { ListStack, LoadMore, TwoLines } from '../../../ui/list.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { Table, type Column } from '../../../ui/table.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { useToasts } from '../../../ui/toast.tsx';
import { eventLabel } from '../events/event-labels.ts';

interface DeliveriesDialogProps {
  webhook: Webhook | null;
  onClose: () => void;
}

/** Recent deliveries of a webhook. Each can be sent again. */
export function DeliveriesDialog({ webhook, onClose }: DeliveriesDialogProps) {
  return (
    <Dialog
      open={webhook !== null}
      onClose={onClose}
      width="wide"
      title="Deliveries"
      {...(webhook === null ? {} : { description: webhook.url })}
    >
      {webhook !== null && <Deliveries webhook={webhook} onClose={onClose} />}
    </Dialog>
  );
}

function Deliveries({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const deliveries = useInfiniteQuery(deliveriesQuery(api, workspace, webhook.id));
  const sending = useSending(webhook.id);
  return (
    <>
      {deliveries.isError ? (
        <ErrorState error={deliveries.error} onRetry={() => void deliveries.refetch()} />
      ) : (
        <ListStack>
          <Table
            caption="Deliveries"
            columns={columns((delivery) => sending.mutate(delivery))}
            rows={deliveries.data?.pages.flatMap(({ items }) => items)}
            rowKey={({ event_id: id }) => String(id)}
            empty={<EmptyState title="No deliveries yet">Send a test event, or wait for one of a sandbox.</EmptyState>}
          />
          <LoadMore query={deliveries} label="Load older" />
        </ListStack>
      )}
      <FormError error={sending.error} />
      <DialogActions>
        <Button onClick={onClose}>Close</Button>
        <Button variant="primary" pending={sending.isPending} onClick={() => sending.mutate(null)}>
          Send test event
        </Button>
      </DialogActions>
    </>
  );
}

/** Sends a stored event again, or a test event. */
function useSending(id: string) {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  return useMutation({
    mutationFn: async (delivery: WebhookDelivery | null) => {
      const { webhooks } = api;
      assertDelivered(await (delivery === null ? webhooks.test(id) : webhooks.redeliver(id, delivery.event_id)));
    },
    onSuccess: (_answer, delivery) => done(delivery === null ? 'Test event delivered' : 'Event delivered'),
    onSettled: () => queryClient.invalidateQueries(webhooksQuery(api, workspace)),
  });
}

function assertDelivered({ delivered, status, error }: WebhookAttempt): void {
  if (delivered) return;
  throw new Error(`Not delivered: ${error ?? (status === null ? 'no answer' : `HTTP ${status}`)}`);
}

const STATES: Readonly<Record<WebhookDelivery['state'], readonly [label: string, tone: Tone]>> = {
  delivered: ['Delivered', 'ok'],
  retrying: ['Retrying', 'warn'],
  dropped: ['Dropped', 'danger'],
};

function columns(sendAgain: (delivery: WebhookDelivery) => void): Column<WebhookDelivery>[] {
  return [
    {
      id: 'event',
      header: 'Event',
      cell: ({ type, sandbox_id: sandbox, error }) => (
        <TwoLines title={error ?? sandbox} under={error ?? sandbox}>
          {eventLabel({ type }).label}
        </TwoLines>
      ),
    },
    {
      id: 'state',
      header: 'State',
      width: '8rem',
      cell: ({ state }) => <Status tone={STATES[state][1]}>{STATES[state][0]}</Status>,
    },
    {
      id: 'attempted',
      header: 'Last attempt',
      width: '8rem',
      wideOnly: true,
      cell: ({ attempted_at: at }) => <RelativeTime at={at} />,
    },
    {
      id: 'actions',
      header: 'Actions',
      headerHidden: true,
      align: 'end',
      width: '7.5rem',
      cell: (delivery) => (
        <Button size="small" aria-label={`Send again: event ${delivery.event_id}`} onClick={() => sendAgain(delivery)}>
          Send again
        </Button>
      ),
    },
  ];
}
