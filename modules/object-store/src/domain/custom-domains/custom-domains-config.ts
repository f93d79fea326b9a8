import { Type, type Static } from 'typebox';

/** Networks that Cloudflare publishes for its proxy (cloudflare.com/ips). */
const CLOUDFLARE: readonly string[] = [
  '173.245.48.0/20',
  '103.21.244.0/22',
  '103.22.200.0/22',
  '103.31.4.0/22',
  '141.101.64.0/18',
  '108.162.192.0/18',
  '190.93.240.0/20',
  '188.114.96.0/20',
  '197.234.240.0/22',
  '198.41.128.0/17',
  '162.158.0.0/15',
  '104.16.0.0/13',
  '104.24.0.0/14',
  '172.64.0.0/13',
  '131.0.72.0/22',
  '2400:cb00::/32',
  '2606:4700::/32',
  '2803:f800::/32',
  '2405:b500::/32',
  '2405:8100::/32',
  '2a06:98c0::/29',
  '2c0f:f248::/32',
];

const port = (description: string) => Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535, description }));

const acmeSchema = Type.Object(
  {
    directory_url: Type.Optional(
      Type.String({
        pattern: '^https://',
        description:
          'Directory of the certificate authority (RFC 8555); setting it accepts its terms of service. Absent: the platform gives no certificates, and TLS ends before it.',
      }),
    ),
    ca_file: Type.Optional(
      Type.String({ description: 'Certificates (PEM) that vouch for the directory instead of those of the machine' }),
    ),
    email: Type.Optional(Type.String({ maxLength: 254, description: 'Where the authority can write to' })),
    orders_per_hour: Type.Integer({ minimum: 1, default: 60, description: 'Most certificates that are asked for.' }),
  },
  { default: {}, additionalProperties: false, description: 'Certificates of custom domains.' },
);

/** The `object_store.custom_domains` section of the configuration. */
export const customDomainsConfigSchema = Type.Object(
  {
    cname_domain: Type.Optional(
      Type.String({
        description:
          'Name below which the targets of CNAMEs are; default: `cname.` and the first of object_store.domains. All names below it must lead to this platform.',
      }),
    ),
    resolvers: Type.Array(Type.String(), {
      default: [],
      maxItems: 8,
      description: 'Name servers that are asked, as `ADDRESS` or `ADDRESS:PORT`; default: those of the machine.',
    }),
    http_port: port('Custom domains without TLS, and the challenges of the authority (80 in real use); absent: off.'),
    https_port: port('Custom domains with TLS (443 in real use); absent: off; 0 = any free one.'),
    https_redirect: Type.Boolean({
      default: true,
      description: 'Requests without TLS are sent on to https when the domain has a certificate.',
    }),
    https_redirect_port: Type.Integer({
      minimum: 1,
      maximum: 65_535,
      default: 443,
      description: 'Port that they are sent on to, as seen from outside.',
    }),
    proxy_networks: Type.Array(Type.String(), {
      default: [...CLOUDFLARE],
      maxItems: 1_000,
      description: 'Networks of proxies that end TLS: a domain that leads there is told so.',
    }),
    domains_per_bucket: Type.Integer({ minimum: 1, default: 100, description: 'Most custom domains of a bucket.' }),
    acme: acmeSchema,
  },
  { default: {}, additionalProperties: false, description: 'Host names of users that serve a bucket.' },
);

export type CustomDomainsConfig = Static<typeof customDomainsConfigSchema>;
