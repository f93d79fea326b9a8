import type { NodeWork, PlatformNode } from '@svc/sdk';
import { Badge, Status } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { formatCount } from '../../ui/format-number.ts';
import { TwoLines } from '../../ui/list.tsx';
import type { Column } from '../../ui/table.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { grantedText, leaseText, nodeName, nodeState, roomText, runningText, workText } from './node-labels.ts';

export interface NodeActions {
  onDrain: (node: PlatformNode) => void;
  onUndrain: (node: PlatformNode) => void;
}

export function nodeColumns(work: readonly NodeWork[], actions: NodeActions): Column<PlatformNode>[] {
  return [
    {
      id: 'name',
      header: 'Node',
      cell: (node) => (
        <TwoLines whole under={node.id} title={node.id}>
          {nodeName(node)} {node.this_node && <Badge>this one</Badge>}
        </TwoLines>
      ),
    },
    {
      id: 'state',
      header: 'Status',
      width: '10rem',
      narrowWidth: '8rem',
      cell: (node) => {
        const { label, tone } = nodeState(node);
        return (
          <TwoLines whole under={workText(node.id, work)}>
            <Status tone={tone}>{label}</Status>
          </TwoLines>
        );
      },
    },
    {
      id: 'sandboxes',
      header: 'Sandboxes',
      width: '9.5rem',
      wideOnly: true,
      cell: ({ sandboxes }) =>
        sandboxes === null ? (
          '–'
        ) : (
          <TwoLines whole under={`${sandboxes.driver}, limit ${formatCount(sandboxes.max_running)}`}>
            {runningText(sandboxes)}
          </TwoLines>
        ),
    },
    {
      id: 'room',
      header: 'Free',
      width: '13.5rem',
      wideOnly: true,
      cell: ({ sandboxes }) =>
        sandboxes === null ? (
          '–'
        ) : (
          <TwoLines whole under={grantedText(sandboxes)}>
            {roomText(sandboxes) ?? '–'}
          </TwoLines>
        ),
    },
    {
      id: 'version',
      header: 'Version',
      width: '6.5rem',
      wideOnly: true,
      cell: ({ replica }) => (
        <TwoLines under={leaseText(replica)} title="Version and remaining lease">
          {replica?.version ?? '–'}
        </TwoLines>
      ),
    },
    {
      id: 'started',
      header: 'Started',
      width: '7rem',
      wideOnly: true,
      cell: ({ replica }) => (replica === null ? '–' : <RelativeTime at={replica.started_at} />),
    },
    {
      id: 'actions',
      header: 'Actions',
      headerHidden: true,
      align: 'end',
      width: '6.5rem',
      cell: (node) => <Action node={node} {...actions} />,
    },
  ];
}

function Action({ node, onDrain, onUndrain }: NodeActions & { node: PlatformNode }) {
  if (node.sandboxes === null) return null;
  const isDrained = node.drain !== null;
  const verb = isDrained ? 'End drain' : 'Drain';
  return (
    <Button
      size="small"
      aria-label={isDrained ? `End drain of ${nodeName(node)}` : `Drain ${nodeName(node)}`}
      onClick={() => (isDrained ? onUndrain(node) : onDrain(node))}
    >
      {verb}
    </Button>
  );
}
