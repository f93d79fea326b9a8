/* Made by scripts/generate-types.ts from api/openapi.json; `./svc openapi` writes it anew. */

export interface ObjectStoreOperations {
  /** Status, limits and usage of the workspace’s object store */
  'GET /': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: undefined;
  };
  /** List buckets */
  'GET /buckets': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: undefined;
  };
  /** Create a bucket; the first one provisions the object store of the workspace */
  'POST /buckets': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      /** Made to fit `[a-z0-9-]`; the answer has the final name. */
      "name": string;
      "encryption_mode"?: undefined | "none" | "sse-s3";
      "location_hint"?: undefined | string | null;
    };
    answer: undefined;
  };
  /** List deleted buckets that can be restored */
  'GET /buckets/deleted': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: undefined;
  };
  /** Delete a bucket; it can be restored until its purge */
  'DELETE /buckets/{name}': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: undefined;
  };
  /** Custom domains of a bucket, and the target for their CNAMEs */
  'GET /buckets/{name}/custom-domain': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "hostname"?: undefined | string;
        "bucket": string;
        "cname_target": string;
        "dns_hint"?: undefined | string;
        "url"?: undefined | string;
        /** pending, verifying, active, error or blocked */
        "status"?: undefined | string;
        "ssl"?: undefined | {
          /** initializing, pending, active, error or deactivated */
          "status": string;
          "issuer": string | null;
          "expires_at": string | null;
        };
        "dns"?: undefined | {
          /** missing, mismatch, proxied or ok */
          "status": string;
          "observed": (string)[];
        };
        "created_at"?: undefined | string;
        "verified_at"?: undefined | string | null;
        "last_checked_at"?: undefined | string | null;
        "error"?: undefined | {
          "code": string;
          "message": string;
        } | null;
        "domains": ({
          "hostname": string;
          "bucket": string;
          /** What the CNAME of the host name must lead to */
          "cname_target": string;
          "dns_hint": string;
          "url": string;
          /** pending, verifying, active, error or blocked */
          "status": string;
          "ssl": {
            /** initializing, pending, active, error or deactivated */
            "status": string;
            "issuer": string | null;
            "expires_at": string | null;
          };
          "dns": {
            /** missing, mismatch, proxied or ok */
            "status": string;
            "observed": (string)[];
          };
          "created_at": string;
          "verified_at": string | null;
          "last_checked_at": string | null;
          "error": {
            "code": string;
            "message": string;
          } | null;
        })[];
        "count": number;
      };
    };
  };
  /** Add a custom domain to a bucket */
  'POST /buckets/{name}/custom-domain': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      /** A fully qualified name */
      "hostname"?: undefined | string;
      /** A fully qualified name */
      "domain"?: undefined | string;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "hostname": string;
        "bucket": string;
        /** What the CNAME of the host name must lead to */
        "cname_target": string;
        "dns_hint": string;
        "url": string;
        /** pending, verifying, active, error or blocked */
        "status": string;
        "ssl": {
          /** initializing, pending, active, error or deactivated */
          "status": string;
          "issuer": string | null;
          "expires_at": string | null;
        };
        "dns": {
          /** missing, mismatch, proxied or ok */
          "status": string;
          "observed": (string)[];
        };
        "created_at": string;
        "verified_at": string | null;
        "last_checked_at": string | null;
        "error": {
          "code": string;
          "message": string;
        } | null;
      };
    };
  };
  /** Make a host name the only custom domain of a bucket */
  'PUT /buckets/{name}/custom-domain': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      /** A fully qualified name */
      "hostname"?: undefined | string;
      /** A fully qualified name */
      "domain"?: undefined | string;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "hostname": string;
        "bucket": string;
        /** What the CNAME of the host name must lead to */
        "cname_target": string;
        "dns_hint": string;
        "url": string;
        /** pending, verifying, active, error or blocked */
        "status": string;
        "ssl": {
          /** initializing, pending, active, error or deactivated */
          "status": string;
          "issuer": string | null;
          "expires_at": string | null;
        };
        "dns": {
          /** missing, mismatch, proxied or ok */
          "status": string;
          "observed": (string)[];
        };
        "created_at": string;
        "verified_at": string | null;
        "last_checked_at": string | null;
        "error": {
          "code": string;
          "message": string;
        } | null;
      };
    };
  };
  /** Remove the custom domains of a bucket; they stop serving at once */
  'DELETE /buckets/{name}/custom-domain': {
    query: {
      "team_uuid"?: undefined | string;
      "hostname"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "bucket": string;
        "removed": (string)[];
      };
    };
  };
  /** Lifecycle rules; without any, an empty list */
  'GET /buckets/{name}/lifecycle': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "rules": ({
          "id": string;
          "enabled": boolean;
          "filter": {
            "prefix": string;
            "tags": Record<string, string>;
            "size_greater_than": number | null;
            "size_less_than": number | null;
          };
          "expiration": {
            "days"?: undefined | number;
            "date"?: undefined | string;
            "expired_object_delete_marker"?: undefined | boolean;
          } | null;
          "noncurrent_version_expiration": {
            "days": number;
            "newer_versions": number | null;
          } | null;
          "abort_incomplete_multipart_upload": {
            "days": number;
          } | null;
        })[];
      };
    };
  };
  /** Replace the lifecycle rules; the JSON of AWS and the rules of R2 are taken too */
  'PUT /buckets/{name}/lifecycle': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "rules"?: undefined | ({
        "id"?: undefined | string;
        "enabled"?: undefined | boolean;
        "filter"?: undefined | {
          "prefix"?: undefined | string;
          "tags"?: undefined | Record<string, string>;
          "size_greater_than"?: undefined | number | null;
          "size_less_than"?: undefined | number | null;
        } | null;
        "expiration"?: undefined | {
          "days"?: undefined | number;
          /** Midnight in UTC. */
          "date"?: undefined | string;
          "expired_object_delete_marker"?: undefined | true;
        } | null;
        "noncurrent_version_expiration"?: undefined | {
          "days": number;
          "newer_versions"?: undefined | number | null;
        } | null;
        "abort_incomplete_multipart_upload"?: undefined | {
          "days": number;
        } | null;
        "conditions"?: undefined | {
          "prefix"?: undefined | string;
        };
        "deleteObjectsTransition"?: undefined | {
          "condition": {
            "type": "Age";
            /** Seconds. */
            "maxAge": number;
          };
        };
        "abortMultipartUploadsTransition"?: undefined | {
          "condition": {
            "type": "Age";
            /** Seconds. */
            "maxAge": number;
          };
        };
      })[];
      "Rules"?: undefined | ({
        "ID"?: undefined | string;
        "Status": "Enabled" | "Disabled";
        "Prefix"?: undefined | string;
        "Filter"?: undefined | {
          "Prefix"?: undefined | string;
          "ObjectSizeGreaterThan"?: undefined | number;
          "ObjectSizeLessThan"?: undefined | number;
          "Tag"?: undefined | {
            "Key": string;
            "Value": string;
          };
          "And"?: undefined | {
            "Prefix"?: undefined | string;
            "ObjectSizeGreaterThan"?: undefined | number;
            "ObjectSizeLessThan"?: undefined | number;
            "Tags"?: undefined | ({
              "Key": string;
              "Value": string;
            })[];
          };
        };
        "Expiration"?: undefined | {
          "Days"?: undefined | number;
          "Date"?: undefined | string;
          "ExpiredObjectDeleteMarker"?: undefined | boolean;
        };
        "NoncurrentVersionExpiration"?: undefined | {
          "NoncurrentDays": number;
          "NewerNoncurrentVersions"?: undefined | number;
        };
        "AbortIncompleteMultipartUpload"?: undefined | {
          "DaysAfterInitiation": number;
        };
      })[];
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "rules": ({
          "id": string;
          "enabled": boolean;
          "filter": {
            "prefix": string;
            "tags": Record<string, string>;
            "size_greater_than": number | null;
            "size_less_than": number | null;
          };
          "expiration": {
            "days"?: undefined | number;
            "date"?: undefined | string;
            "expired_object_delete_marker"?: undefined | boolean;
          } | null;
          "noncurrent_version_expiration": {
            "days": number;
            "newer_versions": number | null;
          } | null;
          "abort_incomplete_multipart_upload": {
            "days": number;
          } | null;
        })[];
      };
    };
  };
  /** Remove all lifecycle rules */
  'DELETE /buckets/{name}/lifecycle': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "rules": ({
          "id": string;
          "enabled": boolean;
          "filter": {
            "prefix": string;
            "tags": Record<string, string>;
            "size_greater_than": number | null;
            "size_less_than": number | null;
          };
          "expiration": {
            "days"?: undefined | number;
            "date"?: undefined | string;
            "expired_object_delete_marker"?: undefined | boolean;
          } | null;
          "noncurrent_version_expiration": {
            "days": number;
            "newer_versions": number | null;
          } | null;
          "abort_incomplete_multipart_upload": {
            "days": number;
          } | null;
        })[];
      };
    };
  };
  /** Where the bucket is */
  'GET /buckets/{name}/location': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "location": string;
        "region": string;
        "location_hint": string | null;
        /** The engine that holds the bytes. */
        "provider": string;
      };
    };
  };
  /** Rules of a bucket for webhooks, and how delivery goes */
  'GET /buckets/{name}/notifications': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "rules": ({
          /** Unique in the bucket. */
          "id": string;
          /** Receives the events. */
          "webhook": string;
          "events": (string)[];
          "enabled": boolean;
          "prefix": string;
          "suffix": string;
        })[];
        "delivery": {
          /** Events that are still to be delivered; more than 10000 are not counted. */
          "waiting": number;
          "oldest_waiting_at": string | null;
          "next_attempt_at": string | null;
          "last_error": string | null;
          /** Events that were given up; more than 10000 are not counted. */
          "failed": number;
        };
        /** The latest that were given up. */
        "failed": ({
          "id": number;
          "rule": string;
          "event": string;
          "key": string;
          "version_id": string | null;
          "occurred_at": string;
          "failed_at": string;
          "attempts": number;
          "error": string;
        })[];
      };
    };
  };
  /** Replace the rules; none end all notifications */
  'PUT /buckets/{name}/notifications': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "rules": ({
        /** Unique in the bucket. */
        "id": string;
        /** Receives the events. */
        "webhook": string;
        "events": (string)[];
        "enabled"?: undefined | boolean;
        "prefix"?: undefined | string;
        "suffix"?: undefined | string;
      })[];
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "rules": ({
          /** Unique in the bucket. */
          "id": string;
          /** Receives the events. */
          "webhook": string;
          "events": (string)[];
          "enabled": boolean;
          "prefix": string;
          "suffix": string;
        })[];
        "delivery": {
          /** Events that are still to be delivered; more than 10000 are not counted. */
          "waiting": number;
          "oldest_waiting_at": string | null;
          "next_attempt_at": string | null;
          "last_error": string | null;
          /** Events that were given up; more than 10000 are not counted. */
          "failed": number;
        };
        /** The latest that were given up. */
        "failed": ({
          "id": number;
          "rule": string;
          "event": string;
          "key": string;
          "version_id": string | null;
          "occurred_at": string;
          "failed_at": string;
          "attempts": number;
          "error": string;
        })[];
      };
    };
  };
  /** Try again what was given up */
  'POST /buckets/{name}/notifications/redeliver': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      /** Default: all of them. */
      "ids"?: undefined | (number)[];
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "count": number;
      };
    };
  };
  /** What signs the webhooks of a bucket */
  'GET /buckets/{name}/notifications/secret': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        /** Verifies signatures, as Standard Webhooks has it: `whsec_` and base64. */
        "secret": string;
        "previous_valid_until": string | null;
      };
    };
  };
  /** A new secret; for a day the one before signs too */
  'POST /buckets/{name}/notifications/secret': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        /** Verifies signatures, as Standard Webhooks has it: `whsec_` and base64. */
        "secret": string;
        "previous_valid_until": string | null;
      };
    };
  };
  /** Send a test event now, and say what became of it */
  'POST /buckets/{name}/notifications/test': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      /** Default: the first. */
      "rule"?: undefined | string;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "delivered": boolean;
        "error": string | null;
      };
    };
  };
  /** Restore a deleted bucket */
  'POST /buckets/{name}/restore': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: undefined;
  };
  /** Settings of a bucket, defaults filled in */
  'GET /buckets/{name}/settings': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "publicDefault": boolean;
        "cacheControl": string | null;
        "cors_rules": ({
          "id"?: undefined | string;
          "allowed_origins": (string)[];
          "allowed_methods": (string)[];
          "allowed_headers": (string)[];
          "expose_headers": (string)[];
          "max_age_seconds": number | null;
        })[];
        "soft_delete": {
          "enabled": boolean;
          "retention_days": number;
        };
        "max_object_size": number | null;
        "allowed_content_types": (string)[] | null;
        "quota": {
          "max_bytes": number | null;
          "max_objects": number | null;
        };
        "website": {
          "index": string;
          "error": string | null;
        } | null;
        "notifications": {
          "id": string;
          "enabled": boolean;
          "webhook": string;
          "events": (string)[];
          "prefix": string;
          "suffix": string;
        } | null;
      };
    };
  };
  /** Change settings: what is not given stays, null is the default */
  'PUT /buckets/{name}/settings': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "publicDefault"?: undefined | boolean | null;
      "cacheControl"?: undefined | string | null;
      "cors_rules"?: undefined | ({
        "id"?: undefined | string;
        "allowed_origins": (string)[];
        "allowed_methods": ("GET" | "PUT" | "POST" | "DELETE" | "HEAD")[];
        "allowed_headers"?: undefined | (string)[];
        "expose_headers"?: undefined | (string)[];
        "max_age_seconds"?: undefined | number | null;
      })[] | null;
      "soft_delete"?: undefined | {
        "enabled"?: undefined | boolean | null;
        "retention_days"?: undefined | number | null;
      } | null;
      "max_object_size"?: undefined | number | null;
      "allowed_content_types"?: undefined | (string)[] | null;
      "quota"?: undefined | {
        "max_bytes"?: undefined | number | null;
        "max_objects"?: undefined | number | null;
      } | null;
      "website"?: undefined | {
        /** Name below each folder. */
        "index": string;
        "error"?: undefined | string | null;
      } | null;
      "notifications"?: undefined | {
        /** Which rule, where the bucket has several. */
        "id"?: undefined | string;
        "enabled"?: undefined | boolean;
        /** Receives the events. */
        "webhook": string;
        "events": (string)[];
        "prefix"?: undefined | string;
        "suffix"?: undefined | string;
      } | null;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "publicDefault": boolean;
        "cacheControl": string | null;
        "cors_rules": ({
          "id"?: undefined | string;
          "allowed_origins": (string)[];
          "allowed_methods": (string)[];
          "allowed_headers": (string)[];
          "expose_headers": (string)[];
          "max_age_seconds": number | null;
        })[];
        "soft_delete": {
          "enabled": boolean;
          "retention_days": number;
        };
        "max_object_size": number | null;
        "allowed_content_types": (string)[] | null;
        "quota": {
          "max_bytes": number | null;
          "max_objects": number | null;
        };
        "website": {
          "index": string;
          "error": string | null;
        } | null;
        "notifications": {
          "id": string;
          "enabled": boolean;
          "webhook": string;
          "events": (string)[];
          "prefix": string;
          "suffix": string;
        } | null;
      };
    };
  };
  /** Whether the bucket keeps versions */
  'GET /buckets/{name}/versioning': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "status": "unversioned" | "enabled" | "suspended";
        "mfa_delete": boolean;
      };
    };
  };
  /** Keep versions from now on, or stop; a bucket is never unversioned again */
  'PUT /buckets/{name}/versioning': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "status"?: undefined | "enabled" | "suspended" | "Enabled" | "Suspended";
      "enabled"?: undefined | boolean;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "status": "unversioned" | "enabled" | "suspended";
        "mfa_delete": boolean;
      };
    };
  };
  /** List custom domains */
  'GET /domains': {
    query: {
      "team_uuid"?: undefined | string;
      "bucket"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "domains": ({
          "hostname": string;
          "bucket": string;
          /** What the CNAME of the host name must lead to */
          "cname_target": string;
          "dns_hint": string;
          "url": string;
          /** pending, verifying, active, error or blocked */
          "status": string;
          "ssl": {
            /** initializing, pending, active, error or deactivated */
            "status": string;
            "issuer": string | null;
            "expires_at": string | null;
          };
          "dns": {
            /** missing, mismatch, proxied or ok */
            "status": string;
            "observed": (string)[];
          };
          "created_at": string;
          "verified_at": string | null;
          "last_checked_at": string | null;
          "error": {
            "code": string;
            "message": string;
          } | null;
        })[];
        "count": number;
      };
    };
  };
  /** Register a custom domain on a bucket */
  'POST /domains': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      /** A fully qualified name */
      "hostname"?: undefined | string;
      /** A fully qualified name */
      "domain"?: undefined | string;
      "bucket": string;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "hostname": string;
        "bucket": string;
        /** What the CNAME of the host name must lead to */
        "cname_target": string;
        "dns_hint": string;
        "url": string;
        /** pending, verifying, active, error or blocked */
        "status": string;
        "ssl": {
          /** initializing, pending, active, error or deactivated */
          "status": string;
          "issuer": string | null;
          "expires_at": string | null;
        };
        "dns": {
          /** missing, mismatch, proxied or ok */
          "status": string;
          "observed": (string)[];
        };
        "created_at": string;
        "verified_at": string | null;
        "last_checked_at": string | null;
        "error": {
          "code": string;
          "message": string;
        } | null;
      };
    };
  };
  /** Remove a custom domain; it stops serving at once */
  'DELETE /domains/{hostname}': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "hostname": string;
        "removed": true;
      };
    };
  };
  /** Look at the DNS of a custom domain now, at most once in 10 seconds, and show its status */
  'GET /domains/{hostname}/status': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "hostname": string;
        "bucket": string;
        /** What the CNAME of the host name must lead to */
        "cname_target": string;
        "dns_hint": string;
        "url": string;
        /** pending, verifying, active, error or blocked */
        "status": string;
        "ssl": {
          /** initializing, pending, active, error or deactivated */
          "status": string;
          "issuer": string | null;
          "expires_at": string | null;
        };
        "dns": {
          /** missing, mismatch, proxied or ok */
          "status": string;
          "observed": (string)[];
        };
        "created_at": string;
        "verified_at": string | null;
        "last_checked_at": string | null;
        "error": {
          "code": string;
          "message": string;
        } | null;
      };
    };
  };
  /** List access keys, without secrets */
  'GET /keys': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: undefined;
  };
  /** Create an access key; its secret is in this answer and never again */
  'POST /keys': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "label"?: undefined | string;
      "permissions"?: undefined | ("read" | "write" | "admin")[];
      "buckets"?: undefined | (string)[];
      "expires_at"?: undefined | string | null;
    } | null;
    answer: undefined;
  };
  /** Revoke an access key */
  'DELETE /keys': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "accessKeyId": string;
    };
    answer: undefined;
  };
  /** URLs at which the objects of a bucket can be reached */
  'GET /urls': {
    query: {
      "team_uuid"?: undefined | string;
      "bucket": string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "bucket": string;
        /** Whether anybody may read the objects by default. */
        "public": boolean;
        /** A key is put behind it. */
        "virtual_host": string;
        /** A key is put behind it. */
        "path_style": string;
        /** `{key}` is to be replaced by a key, percent-encoded. */
        "management_public": string;
        "custom_domains": (string)[];
      };
    };
  };
}
