import type { ClusterEvent } from '@svc/sdk';
import type { Command } from 'commander';
import { usageFailure } from '../../client/command-failure.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { printable } from '../../client/output.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { readCount, withClusters } from './with-clusters.ts';

interface EventFlags extends ConnectionFlags {
  follow?: boolean;
  type?: string;
  namespace?: string;
  limit: string;
}

const MAX_PAGE_SIZE = 200;

export function registerClusterEvents(parent: Command): void {
  addConnectionOptions(parent.command('events'))
    .description('Show cluster events, oldest first; with --json, one JSON object per line')
    .argument('<cluster>', 'Cluster name or ID')
    .option('-f, --follow', 'Follow new events until Ctrl-C')
    .option('--type <type>', 'Filter by type, such as pod_crash_loop')
    .option('-n, --namespace <name>', 'Filter by namespace')
    .option('--limit <count>', 'Maximum number of past events, up to 200', '20')
    .action((name: string, flags: EventFlags) =>
      withClusters(flags, async ({ clusters, output, signal }) => {
        const cluster = clusters.of(name);
        const filter = {
          ...(flags.type === undefined ? {} : { eventType: flags.type }),
          ...(flags.namespace === undefined ? {} : { namespace: flags.namespace }),
        };
        const pageSize = readCount(flags.limit, '--limit');
        if (pageSize > MAX_PAGE_SIZE) throw usageFailure(`--limit is at most ${MAX_PAGE_SIZE}`);
        // Fetch the start before the page, so that events in between are part of the stream.
        const { items: newest } =
          flags.follow === true ? await cluster.events({ pageSize: 1 }, { signal }) : { items: [] };
        const { items } = pageSize === 0 ? { items: [] } : await cluster.events({ ...filter, pageSize }, { signal });
        for (const event of items.toReversed()) output.entry(event, renderEvent(event));
        if (flags.follow !== true) return;
        const shown = items[0]?.sequence ?? 0;
        const after = Math.max(shown, newest[0]?.sequence ?? 0);
        for await (const event of cluster.followEvents({ ...filter, after }, { signal })) {
          output.entry(event, renderEvent(event));
        }
      }),
    );
}

function renderEvent({ occurred_at: at, event_type: type, namespace, resource, details }: ClusterEvent): string {
  const more = Object.entries(details).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return printable([at, type, namespace === '' ? resource : `${namespace}/${resource}`, ...more].join('  '));
}
