export interface CephPorts {
  monitor: number;
  gateway: number;
  /** First of forty ports for the storage daemon. */
  storageFirst: number;
}

/** Returns the `ceph.conf` of a cluster with one of each daemon and a single replica. */
export function cephConfiguration(folder: string, clusterId: string, ports: CephPorts): string {
  const global = {
    fsid: clusterId,
    'mon host': `[v2:127.0.0.1:${ports.monitor}/0]`,
    'public addr': '127.0.0.1',
    'cluster addr': '127.0.0.1',
    'ms bind ipv6': 'false',
    'ms bind msgr1': 'false',
    'ms bind port min': ports.storageFirst,
    'ms bind port max': ports.storageFirst + 39,
    'auth allow insecure global id reclaim': 'false',
    'run dir': folder,
    'admin socket': '', // its path would be too long for a socket in a deep temporary folder
    keyring: `${folder}/keyring`,
    'log file': `${folder}/log/$name.log`,
    'mon cluster log file': `${folder}/log/cluster.log`,
    'crash dir': `${folder}/crash`,
    // With a single storage daemon: one replica, few placement groups, and no warnings about either.
    'osd pool default size': 1,
    'osd pool default min size': 1,
    'osd pool default pg num': 8,
    'osd pool default pgp num': 8,
    'osd pool default pg autoscale mode': 'off',
    'osd crush chooseleaf type': 0,
    'mon allow pool size one': 'true',
    'mon max pg per osd': 2000,
    'mon data avail crit': 1,
    'mon data avail warn': 2,
  };
  const storage = {
    'osd data': `${folder}/osd`,
    'osd objectstore': 'bluestore',
    'bluestore block create': 'true',
    'bluestore block size': 16 * 1024 ** 3, // sparse
    'osd memory target': 939_524_096, // the minimum
    'osd class update on start': 'false',
  };
  const gateway = {
    'rgw data': `${folder}/rgw`,
    'rgw frontends': `beast endpoint=127.0.0.1:${ports.gateway} tcp_nodelay=1`,
    'rgw dns name': 'localhost',
    'rgw enable usage log': 'false',
  };
  return [
    section('global', global),
    section('mon.a', { 'mon data': `${folder}/mon` }),
    section('osd.0', storage),
    section('client.rgw', gateway),
  ].join('\n');
}

function section(name: string, values: Readonly<Record<string, string | number>>): string {
  return `[${name}]\n${Object.entries(values)
    .map(([key, value]) => `${key} = ${value}\n`)
    .join('')}`;
}
