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
    .description('what has happened in a cluster, oldest first; with --json one line of JSON each')
    .argument('<cluster>', 'name or id')
    .option('-f, --follow', 'go on with what happens, until Ctrl-C')
    .option('--type <type>', 'only these, such as pod_crash_loop')
    .option('-n, --namespace <name>', 'of this namespace only')
    .option('--limit <count>', 'of the past at most so many, up to 200', '20')
    .action((name: string, flags: EventFlags) =>
      withClusters(flags, async ({ clusters, output, signal }) => {
        const cluster = clusters.of(name);
        const filter = {
          ...(flags.type === undefined ? {} : { eventType: flags.type }),
          ...(flags.namespace === undefined ? {} : { namespace: flags.namespace }),
        };
        const pageSize = readCount(flags.limit, '--limit');
        if (pageSize > MAX_PAGE_SIZE) throw usageFailure(`--limit is at most ${MAX_PAGE_SIZE}`);
        // Before the page: what happens between the two comes with what follows.
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
