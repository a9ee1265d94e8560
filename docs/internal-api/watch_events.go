// Follows the events of all merchants from Go: a Connect stream is a sequence of JSON messages, each after a byte of
// flags and four of length. The position belongs in your database, in the transaction of what you do with the events.
package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"time"
)

type answer struct {
	NextPosition string
	Events       []struct{ Position, Type, ObjectID, Status string }
	Error        *refusal
}

type refusal struct{ Code, Message string }

func (r *refusal) Error() string { return r.Code + ": " + r.Message }

func watch(token string, position string) (string, error) {
	message := []byte(`{"afterPosition":"` + position + `"}`)
	head := make([]byte, 5)
	binary.BigEndian.PutUint32(head[1:], uint32(len(message)))
	url := os.Getenv("TOLLBOOTH_EVENTS_URL") + "/events.v1.EventService/Watch"
	request, err := http.NewRequest("POST", url, bytes.NewReader(append(head, message...)))
	if err != nil {
		return position, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/connect+json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return position, err
	}
	defer response.Body.Close()
	if response.StatusCode != 200 {
		var refused refusal
		if err := json.NewDecoder(response.Body).Decode(&refused); err != nil {
			return position, err
		}
		return position, &refused
	}
	for {
		if _, err := io.ReadFull(response.Body, head); err != nil {
			return position, err
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:]))
		if _, err := io.ReadFull(response.Body, body); err != nil {
			return position, err
		}
		var got answer
		if err := json.Unmarshal(body, &got); err != nil {
			return position, err
		}
		if head[0]&2 != 0 {
			if got.Error != nil {
				return position, got.Error
			}
			return position, nil
		}
		for _, event := range got.Events {
			fmt.Println(event.Position, event.Type, event.ObjectID, event.Status)
		}
		position = got.NextPosition
	}
}

func main() {
	text, err := os.ReadFile(os.Getenv("TOLLBOOTH_TOKEN_FILE"))
	if err != nil {
		log.Fatal(err)
	}
	token := strings.TrimSpace(strings.SplitN(string(text), "\n", 2)[0])
	position := "0"
	if after := os.Getenv("AFTER_POSITION"); after != "" {
		position = after
	}
	// A stream ends after ten minutes and when its server stops, and breaks with its server: go on where it ended. The
	// program ends with an error that a repeat cannot mend.
	for {
		position, err = watch(token, position)
		var refused *refusal
		if errors.As(err, &refused) {
			switch refused.Code {
			case "unauthenticated", "permission_denied", "invalid_argument", "unimplemented":
				log.Fatal(err)
			}
		}
		if err != nil {
			log.Print("again in a second: ", err)
			time.Sleep(time.Second)
		}
	}
}
