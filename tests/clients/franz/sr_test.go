// franz-go's registry client against the registry at REGISTRY_URL.
package franz

import (
	"context"
	"errors"
	"os"
	"reflect"
	"testing"

	"github.com/twmb/franz-go/pkg/sr"
)

const (
	user = `{"type":"record","name":"User","fields":[{"name":"name","type":"string"}]}`
	more = `{"type":"record","name":"User","fields":[{"name":"name","type":"string"},{"name":"age","type":"int","default":0}]}`
	bad  = `{"type":"record","name":"User","fields":[{"name":"name","type":"string"},{"name":"age","type":"int"}]}`
)

func newClient(t *testing.T) (*sr.Client, context.Context) {
	client, err := sr.NewClient(sr.URLs(os.Getenv("REGISTRY_URL")))
	must(t, err)
	return client, context.Background()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal(t *testing.T, found, expected any) {
	t.Helper()
	if !reflect.DeepEqual(found, expected) {
		t.Fatalf("found %v, expected %v", found, expected)
	}
}

func TestSchemasAreRegisteredReadAndDeleted(t *testing.T) {
	client, ctx := newClient(t)
	first, err := client.CreateSchema(ctx, "franz", sr.Schema{Schema: user})
	must(t, err)
	equal(t, first.Version, 1)
	second, err := client.CreateSchema(ctx, "franz", sr.Schema{Schema: more})
	must(t, err)
	equal(t, second.Version, 2)
	text, err := client.SchemaTextByID(ctx, second.ID)
	must(t, err)
	equal(t, text, more)
	found, err := client.LookupSchema(ctx, "franz", sr.Schema{Schema: user})
	must(t, err)
	equal(t, found.ID, first.ID)
	latest, err := client.SchemaByVersion(ctx, "franz", -1)
	must(t, err)
	equal(t, latest.Schema.Schema, more)
	versions, err := client.SubjectVersions(ctx, "franz")
	must(t, err)
	equal(t, versions, []int{1, 2})
	subjects, err := client.SubjectsByID(ctx, first.ID)
	must(t, err)
	equal(t, subjects, []string{"franz"})
	must(t, client.DeleteSchema(ctx, "franz", 1, sr.SoftDelete))
	softly, err := client.DeleteSubject(ctx, "franz", sr.SoftDelete)
	must(t, err)
	equal(t, softly, []int{2})
	deleted, err := client.DeleteSubject(ctx, "franz", sr.HardDelete)
	must(t, err)
	equal(t, deleted, []int{1, 2})
}

func TestReferencesAreAnswered(t *testing.T) {
	client, ctx := newClient(t)
	_, err := client.CreateSchema(ctx, "franz-inner", sr.Schema{Schema: user})
	must(t, err)
	outer, err := client.CreateSchema(ctx, "franz-outer", sr.Schema{
		Schema:     `{"type":"record","name":"Order","fields":[{"name":"buyer","type":"User"}]}`,
		References: []sr.SchemaReference{{Name: "User", Subject: "franz-inner", Version: 1}},
	})
	must(t, err)
	referrers, err := client.SchemaReferences(ctx, "franz-inner", 1)
	must(t, err)
	equal(t, len(referrers), 1)
	equal(t, referrers[0].ID, outer.ID)
}

func TestCompatibilityIsCheckedAndSet(t *testing.T) {
	client, ctx := newClient(t)
	_, err := client.CreateSchema(ctx, "franz-strict", sr.Schema{Schema: user})
	must(t, err)
	verdict, err := client.CheckCompatibility(ctx, "franz-strict", -1, sr.Schema{Schema: bad})
	must(t, err)
	equal(t, verdict.Is, false)
	_, err = client.CreateSchema(ctx, "franz-strict", sr.Schema{Schema: bad})
	var refused *sr.ResponseError
	if !errors.As(err, &refused) {
		t.Fatalf("%v is no answer of the registry's", err)
	}
	equal(t, refused.StatusCode, 409)
	for _, set := range client.SetCompatibility(ctx, sr.SetCompatibility{Level: sr.CompatNone}, "franz-strict") {
		must(t, set.Err)
	}
	for _, level := range client.Compatibility(ctx, "franz-strict") {
		must(t, level.Err)
		equal(t, level.Level, sr.CompatNone)
	}
	_, err = client.CreateSchema(ctx, "franz-strict", sr.Schema{Schema: bad})
	must(t, err)
}

func TestModesAndImports(t *testing.T) {
	client, ctx := newClient(t)
	for _, set := range client.SetMode(ctx, sr.ModeImport, "franz-import") {
		must(t, set.Err)
	}
	made, err := client.CreateSchemaWithIDAndVersion(ctx, "franz-import", sr.Schema{Schema: `"bytes"`}, 4242, 7)
	must(t, err)
	equal(t, []int{made.ID, made.Version}, []int{4242, 7})
	for _, reset := range client.ResetMode(ctx, "franz-import") {
		must(t, reset.Err)
	}
}

func TestSerdeWritesTheHeader(t *testing.T) {
	client, ctx := newClient(t)
	made, err := client.CreateSchema(ctx, "franz-serde", sr.Schema{Schema: `"string"`})
	must(t, err)
	var header sr.ConfluentHeader
	message, err := header.AppendEncode(nil, made.ID, nil)
	must(t, err)
	id, _, err := header.DecodeID(message)
	must(t, err)
	equal(t, id, made.ID)
	equal(t, message[0], byte(0))
}
