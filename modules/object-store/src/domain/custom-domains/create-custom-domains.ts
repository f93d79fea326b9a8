import type { KeyObject } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import type { Clock } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import type { CertificateAuthority, DomainCommands, DomainQueries, DomainResolver } from '../ports/custom-domains.ts';
import type { BucketQueries } from '../ports/buckets.ts';
import type { WorkLeaseCommands } from '../ports/work-leases.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { storeErrors } from '../../errors.ts';
import type { CustomDomainsConfig } from './custom-domains-config.ts';
import { DomainDirectory } from './domain-directory.ts';
import { cnameTarget, createDomainService, type CustomDomainService } from './domain-service.ts';
import { DomainWorker } from './domain-worker.ts';

export interface CustomDomainsOptions {
  config: CustomDomainsConfig;
  /** `object_store.domains`: the platform's own names. */
  storeDomains: readonly string[];
  s3Endpoint: () => string;
  metadata: DomainCommands & DomainQueries & BucketQueries & WorkLeaseCommands;
  secrets: Pick<KeyRing, 'seal'>;
  installationKey: KeyObject;
  resolver: DomainResolver;
  authority: CertificateAuthority | null;
  clock: Clock;
  log: Logger;
}

export interface CustomDomains {
  readonly service: CustomDomainService;
  readonly directory: DomainDirectory;
  readonly worker: DomainWorker;
  /** CNAME target for the domains of a bucket. */
  targetOf(bucketId: number): string;
}

export function createCustomDomains(options: CustomDomainsOptions): CustomDomains {
  const { config, metadata, secrets, installationKey, resolver, authority, clock, log } = options;
  const cnameDomain = config.cname_domain ?? `cname.${options.storeDomains[0] ?? 's3.localhost'}`;
  const targetOf = (bucketId: number): string => cnameTarget(bucketId, cnameDomain, installationKey);
  const ownSuffixes = (): string[] => [...options.storeDomains, cnameDomain, new URL(options.s3Endpoint()).hostname];
  const directory = new DomainDirectory({ metadata, clock, ownSuffixes });
  const worker = new DomainWorker({
    metadata,
    resolver,
    authority,
    secrets,
    directory,
    proxies: readNetworks(config.proxy_networks),
    targetOf,
    ordersPerHour: config.acme.orders_per_hour,
    clock,
    log,
  });
  const service = createDomainService({
    metadata,
    directory,
    worker,
    clock,
    ownSuffixes,
    maxDomainsPerBucket: config.domains_per_bucket,
  });
  return { service, directory, worker, targetOf };
}

function readNetworks(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits = ''] = network.split('/');
    const family = isIP(address);
    const length = Number(bits);
    if (family === 0 || bits === '' || !Number.isInteger(length) || length < 0 || length > (family === 4 ? 32 : 128)) {
      throw storeErrors.InvalidArgument({
        details: { reason: `object_store.custom_domains.proxy_networks: ${network} is not a network` },
      });
    }
    list.addSubnet(address, length, family === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}
