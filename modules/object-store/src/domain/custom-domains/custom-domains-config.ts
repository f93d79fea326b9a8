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
          "ACME directory URL of the certificate authority (RFC 8555); setting it accepts the authority's terms of " +
          'service. Without it, the platform issues no certificates and a proxy must terminate TLS',
      }),
    ),
    ca_file: Type.Optional(
      Type.String({ description: "CA certificates (PEM) for the directory; defaults to the machine's" }),
    ),
    email: Type.Optional(Type.String({ maxLength: 254, description: 'Contact email for the certificate authority' })),
    orders_per_hour: Type.Integer({ minimum: 1, default: 60, description: 'Maximum certificate orders per hour' }),
  },
  { default: {}, additionalProperties: false, description: 'Certificates of custom domains' },
);

/** The `object_store.custom_domains` section of the configuration. */
export const customDomainsConfigSchema = Type.Object(
  {
    cname_domain: Type.Optional(
      Type.String({
        description:
          'Domain of the CNAME targets; defaults to `cname.` plus the first entry of object_store.domains. All its ' +
          'subdomains must resolve to this platform',
      }),
    ),
    resolvers: Type.Array(Type.String(), {
      default: [],
      maxItems: 8,
      description: "DNS servers to query, as `ADDRESS` or `ADDRESS:PORT`; defaults to the machine's",
    }),
    http_port: port('HTTP port for custom domains and ACME challenges (80 in production); off by default'),
    https_port: port('HTTPS port for custom domains (443 in production); off by default, 0 = any free port'),
    https_redirect: Type.Boolean({
      default: true,
      description: 'Redirect HTTP requests to HTTPS if the domain has a certificate',
    }),
    https_redirect_port: Type.Integer({
      minimum: 1,
      maximum: 65_535,
      default: 443,
      description: 'Public HTTPS port to redirect to',
    }),
    proxy_networks: Type.Array(Type.String(), {
      default: [...CLOUDFLARE],
      maxItems: 1_000,
      description:
        'Networks of proxies that terminate TLS; domains that resolve to them get the status error `proxied`',
    }),
    domains_per_bucket: Type.Integer({ minimum: 1, default: 100, description: 'Maximum custom domains per bucket' }),
    acme: acmeSchema,
  },
  { default: {}, additionalProperties: false, description: 'Custom domains of buckets' },
);

export type CustomDomainsConfig = Static<typeof customDomainsConfigSchema>;
