// franz-go's registry client against the registry at SECURED_URL, which asks for credentials.
package franz

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/sr"
)

func tlsConfig(t *testing.T, withCertificate bool) *tls.Config {
	t.Helper()
	pem, err := os.ReadFile(os.Getenv("SECURED_CA"))
	must(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	config := &tls.Config{RootCAs: roots}
	if withCertificate {
		file := os.Getenv("SECURED_CERTIFICATE")
		pair, err := tls.LoadX509KeyPair(file, file)
		must(t, err)
		config.Certificates = []tls.Certificate{pair}
	}
	return config
}

func securedClient(t *testing.T, withCertificate bool, options ...sr.ClientOpt) *sr.Client {
	t.Helper()
	client, err := sr.NewClient(append(options,
		sr.URLs(os.Getenv("SECURED_URL")), sr.DialTLSConfig(tlsConfig(t, withCertificate)))...)
	must(t, err)
	return client
}

func pair(name string) sr.ClientOpt {
	user, password, _ := strings.Cut(os.Getenv(name), ":")
	return sr.BasicAuth(user, password)
}

func TestEachMethodSignsIn(t *testing.T) {
	methods := map[string]func(*testing.T) *sr.Client{
		"basic": func(t *testing.T) *sr.Client { return securedClient(t, false, pair("SECURED_BASIC")) },
		"key":   func(t *testing.T) *sr.Client { return securedClient(t, false, pair("SECURED_KEY")) },
		"token": func(t *testing.T) *sr.Client {
			return securedClient(t, false, sr.BearerToken(os.Getenv("SECURED_TOKEN")))
		},
		"certificate": func(t *testing.T) *sr.Client { return securedClient(t, true) },
	}
	for method, open := range methods {
		t.Run(method, func(t *testing.T) {
			client, ctx, subject := open(t), context.Background(), "franz-"+method
			first, err := client.CreateSchema(ctx, subject, sr.Schema{Schema: user})
			must(t, err)
			text, err := client.SchemaTextByID(ctx, first.ID)
			must(t, err)
			equal(t, text, user)
			verdict, err := client.CheckCompatibility(ctx, subject, -1, sr.Schema{Schema: bad})
			must(t, err)
			equal(t, verdict.Is, false)
			for _, set := range client.SetCompatibility(ctx, sr.SetCompatibility{Level: sr.CompatFull}, subject) {
				must(t, set.Err)
			}
			_, err = client.DeleteSubject(ctx, subject, sr.SoftDelete)
			must(t, err)
		})
	}
}

func TestStrangersAreRefused(t *testing.T) {
	strangers := map[string][]sr.ClientOpt{
		"no credentials":   {},
		"a wrong password": {sr.BasicAuth("admin", "x")},
		"a wrong token":    {sr.BearerToken(os.Getenv("SECURED_TOKEN") + "x")},
	}
	for name, options := range strangers {
		t.Run(name, func(t *testing.T) {
			_, err := securedClient(t, false, options...).Subjects(context.Background())
			var refused *sr.ResponseError
			if !errors.As(err, &refused) {
				t.Fatalf("%v is no answer of the registry's", err)
			}
			equal(t, refused.StatusCode, 401)
			equal(t, refused.Message, "Unauthorized")
		})
	}
}
