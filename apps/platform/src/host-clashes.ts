import type { PlatformConfig } from './config.ts';

interface ConfigFault {
  path: string;
  message: string;
}

interface Name {
  /** The key that sets it. */
  key: string;
  host: string;
}

const PUBLIC_OBJECTS = 'object_store.public_objects.domain';
const PREVIEWS = 'sandboxes.preview_domain';
const OWN_DOMAIN = 'choose a separate domain, such as objects.example-content.net';

/**
 * Names claimed by two parts of the platform. The domains of public objects and previews, and all names below them,
 * serve user content: on one of the console's names, it would replace the console or share its cookies.
 */
export function hostClashes(config: PlatformConfig): ConfigFault[] {
  const { services, object_store: store, sandboxes } = config;
  const objects = services.includes('object-store') ? [{ key: PUBLIC_OBJECTS, host: store.public_objects.domain }] : [];
  const previews = services.includes('sandboxes') ? [{ key: PREVIEWS, host: sandboxes.preview_domain }] : [];
  const zones = [...objects, ...previews].filter(({ host }) => host !== '');
  const faults = zones.flatMap((zone) => consoleNames(config).flatMap((name) => takesConsole(zone, name)));
  for (const zone of zones.filter(({ key }) => key === PUBLIC_OBJECTS)) {
    faults.push(...consoleNames(config).flatMap((name) => sharesSite(zone, name)));
    for (const name of [...previews, ...storeNames(config), ...tunnelNames(config)])
      faults.push(...overlaps(zone, name));
  }
  return faults;
}

function takesConsole(zone: Name, name: Name): ConfigFault[] {
  if (!isWithin(name.host, zone.host)) return [];
  const how = name.host === zone.host ? 'is the host' : 'is a parent of the host';
  const message = `${how} of ${name.key} (${name.host}), where it would answer instead of the console; ${OWN_DOMAIN}`;
  return [{ path: zone.key, message }];
}

/** Browsers treat each name below `localhost` as its own site. */
function sharesSite(zone: Name, name: Name): ConfigFault[] {
  if (zone.host === name.host || name.host === 'localhost' || !isWithin(zone.host, name.host)) return [];
  const message = `is below the host of ${name.key} (${name.host}), so pages there could set cookies for the console; ${OWN_DOMAIN}`;
  return [{ path: zone.key, message }];
}

function overlaps(zone: Name, name: Name): ConfigFault[] {
  const isTaken = isWithin(name.host, zone.host) || (name.key !== TUNNELS && isWithin(zone.host, name.host));
  if (!isTaken) return [];
  return [{ path: zone.key, message: `and ${name.key} (${name.host}) share names; ${OWN_DOMAIN}` }];
}

function consoleNames({ public_url: publicUrl, host }: PlatformConfig): Name[] {
  const names = [{ key: 'host', host }];
  const parsed = publicUrl === undefined ? null : URL.parse(publicUrl);
  if (parsed !== null) names.push({ key: 'public_url', host: parsed.hostname });
  return names.map((name) => ({ ...name, host: name.host.toLowerCase() }));
}

/** Bucket hosts on the S3 listener, and the targets of custom domains. */
function storeNames({ s3_public_url: publicUrl, object_store: store }: PlatformConfig): Name[] {
  const { domains, website_domains: websites, custom_domains: custom } = store;
  const parsed = publicUrl === undefined ? null : URL.parse(publicUrl);
  const [first] = domains;
  const target = custom.cname_domain ?? (first === undefined ? undefined : `cname.${first}`);
  return [
    ...domains.map((host) => ({ key: 'object_store.domains', host })),
    ...websites.map((host) => ({ key: 'object_store.website_domains', host })),
    ...(target === undefined ? [] : [{ key: 'object_store.custom_domains.cname_domain', host: target }]),
    ...(parsed === null ? [] : [{ key: 's3_public_url', host: parsed.hostname }]),
  ].map((name) => ({ ...name, host: name.host.toLowerCase() }));
}

const TUNNELS = 'clusters.tunnel.domain';

/** Only names directly below it that begin with `tunnel-` are tunnels, so a domain of objects may also be below it. */
function tunnelNames({ services, clusters }: PlatformConfig): Name[] {
  return services.includes('clusters') ? [{ key: TUNNELS, host: clusters.tunnel.domain }] : [];
}

function isWithin(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}
